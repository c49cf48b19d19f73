# SPDX-License-Identifier: GPL-2.0
s/^(zram-y[[:space:]]*:=.*zcomp\.o)/\1 zcomp_streams.o/
