/** The documents name the address that the service has on a machine of one's own. */
export function writeOwnAddress(code: string, baseUrl = "http://localhost:4242/v1"): string {
  return code
    .replaceAll("http://localhost:4242/v1", baseUrl)
    .replaceAll(/http:\/\/localhost:4242|\{site_url\}/g, location.origin);
}
