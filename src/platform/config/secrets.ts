/** Whether the environment has a value for a secret that a catalog names. */
export function hasSecret(name: string): boolean {
  return (process.env[name] ?? "") !== "";
}
