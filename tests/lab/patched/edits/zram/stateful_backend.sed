# SPDX-License-Identifier: GPL-2.0
# For the codecs that decompress with a context of their own.
s/^(\t\.create_)ctx(\t.*)/&\n\1dctx\2/
