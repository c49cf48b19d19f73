/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Part of zram_drv.c. The object is pinned first, because only then it is known
 * whether it lies in one page, which decides the mode.
 */
#include <linux/scatterlist.h>

static int read_compressed_page(struct zram *zram, struct page *page,
				unsigned long index)
{
	struct zcomp *comp = zram->comps[get_slot_comp_priority(zram, index)];
	unsigned long handle = get_slot_handle(zram, index);
	unsigned int size = get_slot_size(zram, index);
	struct scatterlist parts[2];
	struct zcomp_dstrm *dstrm;
	void *mapped = NULL, *src, *dst;
	int err;

	zs_obj_read_sg_begin(zram->mem_pool, handle, parts, size);
	if (sg_is_last(&parts[0])) {
		dstrm = zcomp_dstrm_get(comp, ZCOMP_DECOMP_INPLACE);
		mapped = kmap_local_page(sg_page(&parts[0]));
		src = mapped + parts[0].offset;
	} else {
		dstrm = zcomp_dstrm_get(comp, ZCOMP_DECOMP_BOUNCE);
		sg_copy_to_buffer(parts, 2, dstrm->local_copy, size);
		src = dstrm->local_copy;
	}
	dst = kmap_local_page(page);
	err = zcomp_decompress(comp, dstrm, src, size, dst);
	kunmap_local(dst);
	if (mapped)
		kunmap_local(mapped);
	zcomp_dstrm_put(dstrm);
	zs_obj_read_sg_end(zram->mem_pool, handle);
	return err;
}
