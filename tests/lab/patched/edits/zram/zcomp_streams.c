// SPDX-License-Identifier: GPL-2.0
/* See zcomp_streams.h. */

#include <linux/cpuhotplug.h>
#include <linux/percpu.h>
#include <linux/vmalloc.h>

#include "zcomp.h"

/*
 * Does decompression write to the context? Codecs whose operations name a
 * create_dctx do; the others only when a dictionary was loaded.
 */
static bool decomp_has_state(struct zcomp *comp)
{
	return comp->ops->create_dctx || comp->params->dict_sz;
}

/*
 * A CPU that goes away takes its streams with it: the buffer is NULL then. The
 * caller can have been migrated between reading the per-CPU pointer and getting
 * the lock, so it must look, with the lock held, and start again.
 */
noinline struct zcomp_cstrm *zcomp_cstrm_get(struct zcomp *comp)
{
	struct zcomp_cstrm *cstrm;

	for (;;) {
		cstrm = raw_cpu_ptr(comp->cstream);
		mutex_lock(&cstrm->lock);
		if (cstrm->buffer)
			return cstrm;
		mutex_unlock(&cstrm->lock);
	}
}

noinline void zcomp_cstrm_put(struct zcomp_cstrm *cstrm)
{
	mutex_unlock(&cstrm->lock);
}

noinline struct zcomp_dstrm *zcomp_dstrm_get(struct zcomp *comp,
					     enum zcomp_decomp_mode mode)
{
	bool exclusive = mode == ZCOMP_DECOMP_BOUNCE || decomp_has_state(comp);
	struct zcomp_dstrm *dstrm;

	for (;;) {
		dstrm = raw_cpu_ptr(comp->dstream);
		if (exclusive)
			down_write(&dstrm->lock);
		else
			down_read(&dstrm->lock);
		if (dstrm->local_copy) {
			if (exclusive)
				dstrm->excl_locked = true;
			return dstrm;
		}
		if (exclusive)
			up_write(&dstrm->lock);
		else
			up_read(&dstrm->lock);
	}
}

noinline void zcomp_dstrm_put(struct zcomp_dstrm *dstrm)
{
	if (dstrm->excl_locked) {
		dstrm->excl_locked = false;
		up_write(&dstrm->lock);
	} else {
		up_read(&dstrm->lock);
	}
}

/* One kind of context serves both: only what each side uses differs. */
static void free_memory(struct zcomp *comp, struct zcomp_ctx *ctx, void **mem)
{
	comp->ops->destroy_ctx(ctx);
	ctx->context = NULL;
	vfree(*mem);
	*mem = NULL;
}

static int alloc_memory(struct zcomp *comp, struct zcomp_ctx *ctx, void **mem,
			unsigned long size)
{
	int err = comp->ops->create_ctx(comp->params, ctx);

	if (err)
		return err;
	*mem = vzalloc(size);
	if (*mem)
		return 0;
	free_memory(comp, ctx, mem);
	return -ENOMEM;
}

int zcomp_cpu_up_prepare(unsigned int cpu, struct hlist_node *node)
{
	struct zcomp *comp = hlist_entry(node, struct zcomp, node);
	struct zcomp_cstrm *cstrm = per_cpu_ptr(comp->cstream, cpu);
	struct zcomp_dstrm *dstrm = per_cpu_ptr(comp->dstream, cpu);
	int err;

	err = alloc_memory(comp, &cstrm->ctx, &cstrm->buffer, 2 * PAGE_SIZE);
	if (err)
		return err;
	err = alloc_memory(comp, &dstrm->ctx, &dstrm->local_copy, PAGE_SIZE);
	if (err)
		free_memory(comp, &cstrm->ctx, &cstrm->buffer);
	return err;
}

int zcomp_cpu_dead(unsigned int cpu, struct hlist_node *node)
{
	struct zcomp *comp = hlist_entry(node, struct zcomp, node);
	struct zcomp_cstrm *cstrm = per_cpu_ptr(comp->cstream, cpu);
	struct zcomp_dstrm *dstrm = per_cpu_ptr(comp->dstream, cpu);

	mutex_lock(&cstrm->lock);
	free_memory(comp, &cstrm->ctx, &cstrm->buffer);
	mutex_unlock(&cstrm->lock);

	down_write(&dstrm->lock);
	free_memory(comp, &dstrm->ctx, &dstrm->local_copy);
	up_write(&dstrm->lock);
	return 0;
}

int zcomp_streams_init(struct zcomp *comp)
{
	int cpu, err = -ENOMEM;

	comp->cstream = alloc_percpu(struct zcomp_cstrm);
	comp->dstream = alloc_percpu(struct zcomp_dstrm);
	if (!comp->cstream || !comp->dstream)
		goto fail;
	for_each_possible_cpu(cpu) {
		mutex_init(&per_cpu_ptr(comp->cstream, cpu)->lock);
		init_rwsem(&per_cpu_ptr(comp->dstream, cpu)->lock);
	}
	err = cpuhp_state_add_instance(CPUHP_ZCOMP_PREPARE, &comp->node);
	if (!err)
		return 0;
fail:
	free_percpu(comp->dstream);
	free_percpu(comp->cstream);
	return err;
}

void zcomp_streams_destroy(struct zcomp *comp)
{
	cpuhp_state_remove_instance(CPUHP_ZCOMP_PREPARE, &comp->node);
	free_percpu(comp->dstream);
	free_percpu(comp->cstream);
}
