/** A name that nobody else has. (`randomUUID` is missing where a site is opened without TLS.) */
export function createRandomName(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
