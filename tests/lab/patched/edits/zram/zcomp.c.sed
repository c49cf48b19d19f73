# SPDX-License-Identifier: GPL-2.0
# What zcomp_streams.c does instead.
/^static (void|int) zcomp_strm_(free|init)\(/,/^\}/d
/^struct zcomp_strm \*zcomp_stream_get\(/,/^\}/d
/^void zcomp_stream_put\(/,/^\}/d
/^int zcomp_cpu_(up_prepare|dead)\(/,/^\}/d
/^static int zcomp_init\(/,/^\}/ {
  s/int ret, cpu;/int ret;/
  /comp->stream = alloc_percpu/,/return -ENOMEM;/d
  /for_each_possible_cpu/,/mutex_init/d
  s/cpuhp_state_add_instance\(.*\);/zcomp_streams_init(comp);/
  /free_percpu/d
}
/^void zcomp_destroy\(/,/^\}/ {
  s/cpuhp_state_remove_instance\(.*\);/zcomp_streams_destroy(comp);/
  /free_percpu/d
}
/^int zcomp_compress\(/s/zcomp_strm/zcomp_cstrm/
/^int zcomp_decompress\(/s/zcomp_strm/zcomp_dstrm/
