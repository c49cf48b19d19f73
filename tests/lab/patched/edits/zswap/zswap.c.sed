# SPDX-License-Identifier: GPL-2.0
/^struct crypto_acomp_ctx \{/,/^};/c\
#include "zswap_requests.h"
/^static void acomp_ctx_free\(/,/^\}/ {
  /if \(acomp_ctx->req\)/d
  s/acomp_request_free\(.*\);/zswap_acomp_req_free(\&acomp_ctx->decomp);/
  s/acomp_ctx->req = NULL;/zswap_acomp_req_free(\&acomp_ctx->comp);/
}
/^static int zswap_cpu_comp_prepare\(/,/^\}/ {
  s/acomp_ctx->req = acomp_request_alloc\(.*\);/ret = zswap_acomp_reqs_init(acomp_ctx);/
  s/if \(!acomp_ctx->req\)/if (ret)/
  /crypto_init_wait/d
  /acomp_request_set_callback/,/;/d
  /mutex_init/d
}
/^static bool zswap_compress\(/,/^\}/ {
  s/acomp_ctx->(req|wait|mutex)/acomp_ctx->comp.\1/g
}
# The old function, without its lock, becomes __zswap_decompress().
/^static bool zswap_decompress\(/,/^\}/ {
  s/^static bool zswap_decompress\(.*/static bool __zswap_decompress(struct zswap_entry *entry,\
			       struct zswap_pool *pool, struct acomp_req *req,\
			       struct crypto_wait *wait, struct folio *folio)/
  /struct zswap_pool \*pool = /d
  /struct crypto_acomp_ctx \*acomp_ctx;/d
  /raw_cpu_ptr/d
  /mutex_(un)?lock/d
  s/&acomp_ctx->wait/wait/
  s/acomp_ctx->req/req/g
  /^\}/a\
\
#include "zswap_load.h"
}
