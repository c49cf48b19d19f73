#include "common/tls_files.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "common/secret_file.h"

namespace swaplock {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

Owned<BIO> Memory(absl::string_view text) {
  return Owned<BIO>(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Never asks at a terminal.
int NoPassword(char*, int, int, void*) { return 0; }

Owned<X509> FirstCertificate(absl::string_view pem) {
  const Owned<BIO> in = Memory(pem);
  Owned<X509> out(PEM_read_bio_X509(in.get(), nullptr, NoPassword, nullptr));
  ERR_clear_error();
  return out;
}

Owned<EVP_PKEY> PrivateKey(absl::string_view pem) {
  const Owned<BIO> in = Memory(pem);
  Owned<EVP_PKEY> out(
      PEM_read_bio_PrivateKey(in.get(), nullptr, NoPassword, nullptr));
  ERR_clear_error();
  return out;
}

absl::Status Wrong(const std::string& path, absl::string_view what) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", what));
}

}  // namespace

absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files) {
  if (files.ca.empty()) {
    return absl::FailedPreconditionError(
        "TLS needs a file with the certificate of the CA");
  }
  if (files.certificate.empty() != files.key.empty()) {
    return absl::FailedPreconditionError(
        "a certificate and its key come together");
  }
  TlsMaterial out;
  absl::StatusOr<std::string> read = ReadSmallFile(files.ca);
  if (!read.ok()) return read.status();
  out.ca = *std::move(read);
  if (FirstCertificate(out.ca) == nullptr) {
    return Wrong(files.ca, "there is no certificate in PEM form in it");
  }
  if (files.certificate.empty()) return out;

  read = ReadSmallFile(files.certificate);
  if (!read.ok()) return read.status();
  out.certificate = *std::move(read);
  const Owned<X509> certificate = FirstCertificate(out.certificate);
  if (certificate == nullptr) {
    return Wrong(files.certificate,
                 "there is no certificate in PEM form in it");
  }
  read = ReadSecretFile(files.key);
  if (!read.ok()) return read.status();
  out.key = *std::move(read);
  const Owned<EVP_PKEY> key = PrivateKey(out.key);
  if (key == nullptr) {
    return Wrong(files.key,
                 "there is no private key without password in PEM form in it");
  }
  const bool pair = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!pair) {
    return Wrong(files.key, absl::StrCat("it is not the key of the "
                                         "certificate in ",
                                         files.certificate));
  }
  return out;
}

absl::StatusOr<std::vector<std::string>> UriNames(absl::string_view pem) {
  const Owned<X509> certificate = FirstCertificate(pem);
  if (certificate == nullptr) {
    return absl::FailedPreconditionError("there is no certificate in PEM form");
  }
  std::vector<std::string> out;
  const Owned<GENERAL_NAMES> names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(
      certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
    out.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                     static_cast<size_t>(ASN1_STRING_length(uri)));
  }
  return out;
}

}  // namespace swaplock
