/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Part of zswap.c: loads and writeback. The context is valid on any CPU for as
 * long as the pool is, so being migrated after raw_cpu_ptr() does no harm.
 */
static noinline bool zswap_decompress(struct zswap_entry *entry,
				      struct folio *folio)
{
	struct crypto_acomp_ctx *ctx = raw_cpu_ptr(entry->pool->acomp_ctx);
	bool ok;

	if (!ctx->decomp.req) {
		ACOMP_REQUEST_ON_STACK(req, ctx->acomp);
		DECLARE_CRYPTO_WAIT(wait);

		return __zswap_decompress(entry, entry->pool, req, &wait,
					  folio);
	}
	mutex_lock(&ctx->decomp.mutex);
	ok = __zswap_decompress(entry, entry->pool, ctx->decomp.req,
				&ctx->decomp.wait, folio);
	mutex_unlock(&ctx->decomp.mutex);
	return ok;
}
