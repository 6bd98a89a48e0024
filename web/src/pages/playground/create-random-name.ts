/** A unique name. (`randomUUID` needs https.) */
export function createRandomName(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
