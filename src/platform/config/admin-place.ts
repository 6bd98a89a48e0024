/** The gateway that the command line calls instead of opening a database. */
export function readAdminPlace(environment: NodeJS.ProcessEnv = process.env): { url?: string; key?: string } {
  const { SLUICE_ADMIN_URL: url, SLUICE_ADMIN_KEY: key } = environment;
  return { ...(url ? { url } : {}), ...(key ? { key } : {}) };
}
