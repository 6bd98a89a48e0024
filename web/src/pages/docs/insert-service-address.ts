/** Replaces the localhost address in the documents with this service's address. */
export function insertServiceAddress(code: string, baseUrl = "http://localhost:4242/v1"): string {
  return code
    .replaceAll("http://localhost:4242/v1", baseUrl)
    .replaceAll(/http:\/\/localhost:4242|\{site_url\}/g, location.origin);
}
