# SPDX-License-Identifier: GPL-2.0
/^static int (zram_write_page|recompress_slot)\(/,/^\}/ {
  s/zcomp_strm/zcomp_cstrm/
  s/zcomp_stream_/zcomp_cstrm_/
}
# Both need local_copy, whatever the object looks like.
/^static int (decompress_bdev_page|read_from_zspool_raw)\(/,/^\}/ {
  s/zcomp_strm/zcomp_dstrm/
  s/zcomp_stream_get\((.*)\);/zcomp_dstrm_get(\1, ZCOMP_DECOMP_BOUNCE);/
  s/zcomp_stream_put/zcomp_dstrm_put/
}
/^static int read_compressed_page\(/,/^\}/c\
#include "zram_read_compressed.h"
