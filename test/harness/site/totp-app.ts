import { createHmac } from "node:crypto";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Decodes a typed secret as an authenticator app does. */
export function readBase32(text: string): Buffer {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const bytes = bits.match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

/** The code that the app shows, by RFC 6238 and RFC 4226, implemented independently of the gateway. */
export function showTotp(secret: Buffer, now: Date): string {
  const counter = Buffer.from(
    Math.floor(now.getTime() / 30_000)
      .toString(16)
      .padStart(16, "0"),
    "hex",
  );
  const mac = createHmac("sha1", secret).update(counter).digest();
  const start = Number(mac[19]) & 15;
  const number = mac.subarray(start, start + 4).readUInt32BE() % 2 ** 31;
  return String(number).slice(-6).padStart(6, "0");
}
