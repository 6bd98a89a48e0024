/** Variables of the npm that started this process; they would point another npm to the wrong folder. */
const misleading = /^(npm_config_(local_|global_)?prefix|npm_config_workspaces?|npm_package_.*|INIT_CWD)$/;

/** `ownPath` is the npm that started this process; `null` means the one on the PATH. */
export function readNpmEnvironment(): { ownPath: string | null; environment: NodeJS.ProcessEnv } {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !misleading.test(name)));
  return { ownPath: process.env.npm_execpath ?? null, environment };
}
