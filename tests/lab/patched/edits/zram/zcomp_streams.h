/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Separate streams for zram's writes and reads, per CPU. A test fixture, not a
 * proposal: the shape is that of the series of October 2026 (second version, up
 * to its patch 11), the code is ours.
 *
 * The lock is the first member of both streams, so that what *_get() returns is
 * also the address of the lock.
 */
#ifndef _ZCOMP_STREAMS_H_
#define _ZCOMP_STREAMS_H_

#include <linux/rwsem.h>

struct zcomp;
struct hlist_node;

struct zcomp_cstrm {
	struct mutex lock;
	void *buffer;		/* compressed data, two pages */
	struct zcomp_ctx ctx;
};

/* What a reader needs of its stream beside the right to use it. */
enum zcomp_decomp_mode {
	ZCOMP_DECOMP_INPLACE,	/* nothing: the object lies in one page */
	ZCOMP_DECOMP_BOUNCE,	/* local_copy */
};

struct zcomp_dstrm {
	/* Shared: INPLACE, by a codec that keeps no state. Else exclusive. */
	struct rw_semaphore lock;
	bool excl_locked;	/* written by the exclusive holder alone */
	void *local_copy;	/* one page */
	struct zcomp_ctx ctx;
};

struct zcomp_cstrm *zcomp_cstrm_get(struct zcomp *comp);
void zcomp_cstrm_put(struct zcomp_cstrm *cstrm);
struct zcomp_dstrm *zcomp_dstrm_get(struct zcomp *comp,
				    enum zcomp_decomp_mode mode);
void zcomp_dstrm_put(struct zcomp_dstrm *dstrm);

int zcomp_streams_init(struct zcomp *comp);
void zcomp_streams_destroy(struct zcomp *comp);

#endif /* _ZCOMP_STREAMS_H_ */
