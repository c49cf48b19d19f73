/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Part of zswap.c. Separate requests, and so locks, for zswap's stores and
 * loads, per CPU; no lock for the loads of a codec that works synchronously
 * and needs no request memory of its own. A test fixture, not a proposal: the
 * shape is that of the series of October 2026, the code is ours.
 */
struct zswap_acomp_req {
	struct acomp_req *req;
	struct crypto_wait wait;
	struct mutex mutex;
};

struct crypto_acomp_ctx {
	struct crypto_acomp *acomp;
	struct zswap_acomp_req comp;	/* zswap_compress() */
	struct zswap_acomp_req decomp;	/* req is NULL: on the loader's stack */
	u8 *buffer;			/* belongs to comp */
};

static bool request_fits_on_stack(struct crypto_acomp *acomp)
{
	return !acomp_is_async(acomp) &&
	       crypto_acomp_reqsize(acomp) <= MAX_SYNC_COMP_REQSIZE;
}

static int zswap_acomp_req_init(struct zswap_acomp_req *r,
				struct crypto_acomp *acomp)
{
	mutex_init(&r->mutex);
	crypto_init_wait(&r->wait);
	r->req = acomp_request_alloc(acomp);
	if (!r->req)
		return -ENOMEM;
	acomp_request_set_callback(r->req, CRYPTO_TFM_REQ_MAY_BACKLOG,
				   crypto_req_done, &r->wait);
	return 0;
}

static void zswap_acomp_req_free(struct zswap_acomp_req *r)
{
	acomp_request_free(r->req);
	r->req = NULL;
}

static int zswap_acomp_reqs_init(struct crypto_acomp_ctx *ctx)
{
	int err = zswap_acomp_req_init(&ctx->comp, ctx->acomp);

	if (err || request_fits_on_stack(ctx->acomp))
		return err;
	return zswap_acomp_req_init(&ctx->decomp, ctx->acomp);
}
