#include "cli/certs/certificate_maker.h"

#include <arpa/inet.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace swaplock {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509_EXTENSION* extension) const {
    X509_EXTENSION_free(extension);
  }
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
  void operator()(BIGNUM* number) const { BN_free(number); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

constexpr size_t kMaxNames = 64;
constexpr int kX509Version3 = 2;

absl::Status OpenSslError(absl::string_view tried) {
  char text[256] = "unknown error";
  if (const unsigned long code = ERR_get_error(); code != 0) {  // NOLINT
    ERR_error_string_n(code, text, sizeof(text));
  }
  ERR_clear_error();
  return absl::InternalError(absl::StrCat(tried, ": ", text));
}

std::string Contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);  // NOLINT(google-runtime-int)
  return size > 0 ? std::string(data, static_cast<size_t>(size)) : "";
}

std::string ToPem(X509* certificate) {
  const Owned<BIO> out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(out.get(), certificate);
  return Contents(out.get());
}

std::string ToPem(EVP_PKEY* key) {
  const Owned<BIO> out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr,
                                nullptr);
  return Contents(out.get());
}

Owned<BIO> Memory(const std::string& text) {
  return Owned<BIO>(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

int NoPassword(char*, int, int, void*) { return 0; }

bool IsNameText(absl::string_view text) {
  return !text.empty() && text.size() <= 512 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isgraph(static_cast<unsigned char>(c));
         });
}

absl::Status AddName(int type, absl::string_view text, GENERAL_NAMES* names) {
  absl::Status bad = absl::InvalidArgumentError(absl::StrCat(
      "\"", absl::CHexEscape(text), "\" cannot be a name in a certificate"));
  if (!IsNameText(text)) return bad;
  const std::string value(text);
  GENERAL_NAME* name = a2i_GENERAL_NAME(nullptr, nullptr, nullptr, type,
                                        value.c_str(), /*is_nc=*/0);
  ERR_clear_error();
  if (name == nullptr) return bad;
  sk_GENERAL_NAME_push(names, name);
  return absl::OkStatus();
}

absl::Status AddNames(const CertificateRequest& request, X509* certificate) {
  const Owned<GENERAL_NAMES> names(sk_GENERAL_NAME_new_null());
  const struct {
    int type;
    const std::vector<std::string>& texts;
  } kKinds[] = {{GEN_URI, request.uris},
                {GEN_DNS, request.dns_names},
                {GEN_IPADD, request.addresses}};
  for (const auto& kind : kKinds) {
    for (const std::string& text : kind.texts) {
      if (absl::Status s = AddName(kind.type, text, names.get()); !s.ok()) {
        return s;
      }
    }
  }
  const auto count = static_cast<size_t>(sk_GENERAL_NAME_num(names.get()));
  if (count == 0) return absl::OkStatus();
  if (count > kMaxNames) {
    return absl::InvalidArgumentError(absl::StrCat(
        count, " names for one certificate, more than ", kMaxNames));
  }
  if (X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(),
                        /*crit=*/0, X509V3_ADD_DEFAULT) != 1) {
    return OpenSslError("add the names");
  }
  return absl::OkStatus();
}

bool AddExtension(int nid, const char* value, X509* issuer, X509* certificate) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension != nullptr &&
         X509_add_ext(certificate, extension.get(), -1) == 1;
}

// 127 random bits: RFC 5280 wants a positive number of at most 20 bytes.
bool SetSerial(X509* certificate) {
  const Owned<BIGNUM> number(BN_new());
  return BN_rand(number.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) !=
             nullptr;
}

// What every certificate has; signed later.
absl::StatusOr<Owned<X509>> Draft(const CertificateRequest& request,
                                  EVP_PKEY* key) {
  Owned<X509> out(X509_new());
  X509_set_version(out.get(), kX509Version3);
  X509_NAME* subject = X509_get_subject_name(out.get());
  const bool ok =
      SetSerial(out.get()) &&
      ASN1_TIME_set(X509_getm_notBefore(out.get()),
                    absl::ToTimeT(request.not_before)) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(out.get()),
                    absl::ToTimeT(request.not_after)) != nullptr &&
      X509_NAME_add_entry_by_txt(
          subject, "CN", MBSTRING_UTF8,
          reinterpret_cast<const unsigned char*>(request.common_name.data()),
          static_cast<int>(request.common_name.size()), -1, 0) == 1 &&
      X509_set_pubkey(out.get(), key) == 1;
  if (!ok) return OpenSslError("make a certificate");
  return out;
}

// Signed with the key of `issuer`, or its own when that is null.
absl::StatusOr<KeyPair> MakeLeaf(const CertificateRequest& request,
                                 X509* issuer, EVP_PKEY* issuer_key) {
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpenSslError("make a key");
  absl::StatusOr<Owned<X509>> draft = Draft(request, key.get());
  if (!draft.ok()) return draft.status();
  X509* leaf = draft->get();
  if (issuer == nullptr) {
    issuer = leaf;
    issuer_key = key.get();
  }
  X509_set_issuer_name(leaf, X509_get_subject_name(issuer));
  const char* usage = request.server && request.client
                          ? "serverAuth,clientAuth"
                          : (request.server ? "serverAuth" : "clientAuth");
  const bool ok =
      AddExtension(NID_basic_constraints, "critical,CA:FALSE", issuer, leaf) &&
      AddExtension(NID_key_usage, "critical,digitalSignature", issuer, leaf) &&
      AddExtension(NID_ext_key_usage, usage, issuer, leaf) &&
      AddExtension(NID_subject_key_identifier, "hash", issuer, leaf) &&
      (issuer == leaf || AddExtension(NID_authority_key_identifier,
                                      "keyid:always", issuer, leaf));
  if (!ok) return OpenSslError("extend a certificate");
  if (absl::Status s = AddNames(request, leaf); !s.ok()) return s;
  if (X509_sign(leaf, issuer_key, EVP_sha256()) == 0) {
    return OpenSslError("sign a certificate");
  }
  return KeyPair{ToPem(leaf), ToPem(key.get())};
}

}  // namespace

absl::StatusOr<CertificateMaker> CertificateMaker::NewAuthority(
    const std::string& common_name, absl::Time not_before,
    absl::Time not_after) {
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpenSslError("make a key");
  CertificateRequest request;
  request.common_name = common_name;
  request.not_before = not_before;
  request.not_after = not_after;
  absl::StatusOr<Owned<X509>> draft = Draft(request, key.get());
  if (!draft.ok()) return draft.status();
  X509* ca = draft->get();
  X509_set_issuer_name(ca, X509_get_subject_name(ca));
  const bool ok =
      AddExtension(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", ca,
                   ca) &&
      AddExtension(NID_key_usage, "critical,keyCertSign,cRLSign", ca, ca) &&
      AddExtension(NID_subject_key_identifier, "hash", ca, ca) &&
      X509_sign(ca, key.get(), EVP_sha256()) != 0;
  if (!ok) return OpenSslError("make a CA");
  return CertificateMaker({ToPem(ca), ToPem(key.get())});
}

absl::StatusOr<CertificateMaker> CertificateMaker::FromPem(
    const KeyPair& authority) {
  const Owned<BIO> certificate_in = Memory(authority.certificate);
  const Owned<X509> ca(
      PEM_read_bio_X509(certificate_in.get(), nullptr, NoPassword, nullptr));
  const Owned<BIO> key_in = Memory(authority.key);
  const Owned<EVP_PKEY> key(
      PEM_read_bio_PrivateKey(key_in.get(), nullptr, NoPassword, nullptr));
  const bool ok = ca != nullptr && key != nullptr &&
                  X509_check_ca(ca.get()) == 1 &&
                  X509_check_private_key(ca.get(), key.get()) == 1;
  ERR_clear_error();
  if (!ok) {
    return absl::FailedPreconditionError(
        "they are not the certificate of a CA and its key in PEM form");
  }
  return CertificateMaker(authority);
}

absl::StatusOr<KeyPair> CertificateMaker::Issue(
    const CertificateRequest& request) const {
  const Owned<BIO> certificate_in = Memory(authority_.certificate);
  const Owned<X509> ca(
      PEM_read_bio_X509(certificate_in.get(), nullptr, NoPassword, nullptr));
  const Owned<BIO> key_in = Memory(authority_.key);
  const Owned<EVP_PKEY> key(
      PEM_read_bio_PrivateKey(key_in.get(), nullptr, NoPassword, nullptr));
  if (ca == nullptr || key == nullptr) return OpenSslError("read the CA");
  return MakeLeaf(request, ca.get(), key.get());
}

absl::StatusOr<KeyPair> MakeSelfSigned(const CertificateRequest& request) {
  return MakeLeaf(request, nullptr, nullptr);
}

}  // namespace swaplock
