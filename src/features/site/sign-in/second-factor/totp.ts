import { createHmac, timingSafeEqual } from "node:crypto";

/** RFC 6238 as in authenticator apps: SHA-1, six digits, 30 seconds. */
const stepMs = 30_000;
const digits = 6;
export const totpSecretBytes = 20;

/** Clock drift: the previous and next codes are accepted too. */
const stepsOff = 1;

/** The time step of a valid code, or `null`. */
export function findTotpStep(secret: Buffer, code: string, now: Date): number | null {
  const current = Math.floor(now.getTime() / stepMs);
  let found: number | null = null;
  // Compare all steps, to keep the time constant.
  for (let step = current - stepsOff; step <= current + stepsOff; step += 1) {
    if (isSame(presentTotp(secret, step), code)) found = step;
  }
  return found;
}

export function presentTotp(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits;
  return String(number).padStart(digits, "0");
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

const base32Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** For typing into an app that cannot scan the QR code. */
export function presentBase32(bytes: Buffer): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += base32Alphabet.charAt((value >> bits) & 31);
    }
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + base32Alphabet.charAt((value << (5 - bits)) & 31) : text;
}

/** The content of the QR code. */
export function presentTotpUri({ secret, email, issuer }: { secret: Buffer; email: string; issuer: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  const query = new URLSearchParams({ secret: presentBase32(secret), issuer });
  return `otpauth://totp/${label}?${query.toString().replaceAll("+", "%20")}`;
}
