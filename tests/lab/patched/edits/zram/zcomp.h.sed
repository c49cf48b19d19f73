# SPDX-License-Identifier: GPL-2.0
/^struct zcomp_strm \{/,/^};/c\
#include "zcomp_streams.h"
/\(\*destroy_ctx\)/a\
	/* Named by codecs whose decompression writes to its context. */\
	int (*create_dctx)(struct zcomp_params *params, struct zcomp_ctx *ctx);
s/^\tstruct zcomp_strm __percpu \*stream;/\tstruct zcomp_cstrm __percpu *cstream;\n\tstruct zcomp_dstrm __percpu *dstream;/
/zcomp_stream_(get|put)\(/d
/^int zcomp_compress\(/s/zcomp_strm/zcomp_cstrm/
/^int zcomp_decompress\(/s/zcomp_strm/zcomp_dstrm/
