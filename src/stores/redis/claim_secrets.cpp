#include "stores/redis/claim_secrets.hpp"

#include <bit>
#include <cstring>

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "base/random.hpp"

namespace holdfast::stores::redis {

namespace {

/// The state of SipHash (Aumasson and Bernstein, 2012).
class sip_state {
public:
    explicit sip_state(std::array<std::uint64_t, 2> const& key) noexcept
        : v_{key[0] ^ 0x736f6d6570736575ULL, key[1] ^ 0x646f72616e646f6dULL ^ 0xeeU,
             key[0] ^ 0x6c7967656e657261ULL, key[1] ^ 0x7465646279746573ULL} {}

    void absorb(std::uint64_t word) noexcept {
        v_[3] ^= word;
        rounds(2);
        v_[0] ^= word;
    }

    [[nodiscard]] std::uint64_t squeeze(std::size_t place, std::uint64_t mark) noexcept {
        v_[place] ^= mark;
        rounds(4);
        return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
    }

private:
    void rounds(int count) noexcept {
        for (; count > 0; --count) {
            v_[0] += v_[1];
            v_[1] = std::rotl(v_[1], 13) ^ v_[0];
            v_[0] = std::rotl(v_[0], 32);
            v_[2] += v_[3];
            v_[3] = std::rotl(v_[3], 16) ^ v_[2];
            v_[0] += v_[3];
            v_[3] = std::rotl(v_[3], 21) ^ v_[0];
            v_[2] += v_[1];
            v_[1] = std::rotl(v_[1], 17) ^ v_[2];
            v_[2] = std::rotl(v_[2], 32);
        }
    }

    std::array<std::uint64_t, 4> v_;
};

void write_little_endian(std::uint64_t word, char* to) noexcept {
    constexpr int byte = 8;
    for (int i = 0; i < byte; ++i)
        to[i] = static_cast<char>(word >> (i * byte));
}

}  // namespace

claim_secrets::claim_secrets() : key_{base::entropy(), base::entropy()} {}

claim_secrets::secret claim_secrets::of(seam::claim_id id) const noexcept {
    constexpr std::uint64_t length = 16ULL << 56;
    sip_state state{key_};
    state.absorb(static_cast<std::uint64_t>(id.client));
    state.absorb(id.number);
    state.absorb(length);
    secret out;
    write_little_endian(state.squeeze(2, 0xee), out.data());
    write_little_endian(state.squeeze(1, 0xdd), out.data() + size / 2);
    return out;
}

bool claim_secrets::is_proven(seam::claim_id id, std::string_view terms,
                              std::string_view proof) const noexcept {
    std::array<unsigned char, 128> text;
    if (terms.size() > text.size() - size || proof.size() != 2 * SHA_DIGEST_LENGTH) return false;
    auto const known = of(id);
    if (!terms.empty()) std::memcpy(text.data(), terms.data(), terms.size());
    std::memcpy(text.data() + terms.size(), known.data(), size);
    std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
    ::SHA1(text.data(), terms.size() + size, digest.data());
    constexpr std::string_view digits = "0123456789abcdef";
    std::array<char, 2 * SHA_DIGEST_LENGTH> expected;
    for (std::size_t i = 0; i < digest.size(); ++i) {
        expected[2 * i] = digits[digest[i] >> 4];
        expected[2 * i + 1] = digits[digest[i] & 15];
    }
    return ::CRYPTO_memcmp(expected.data(), proof.data(), proof.size()) == 0;
}

}  // namespace holdfast::stores::redis
