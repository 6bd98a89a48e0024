import { spawnSync } from "node:child_process";
import { chownSync } from "node:fs";
import { OperatorError } from "../../errors/operator-error.ts";

/** How PostgreSQL's programs are started, and which user owns their files. */
export type Launch = {
  prefix: readonly string[];
  /** Changes the owner of a file or folder to the user that PostgreSQL runs as. */
  handOver(path: string): void;
};

const nobody = 65_534;

/**
 * PostgreSQL refuses to run as root. In a user namespace it runs as `nobody` while root still owns the files, so private
 * folders work. Where user namespaces are disabled (many containers), it runs as the real `nobody`, who must be able to reach
 * the folders.
 */
export function chooseLaunch({ binDir, dataDir }: { binDir: string; dataDir: string }): Launch {
  const stopWithParent = canRun(["setpriv", "--pdeathsig", "INT", "true"]) ? ["setpriv", "--pdeathsig", "INT"] : [];
  if (process.getuid?.() !== 0) return { prefix: stopWithParent, handOver: () => {} };

  const namespace = ["unshare", "--user", `--map-user=${nobody}`, `--map-group=${nobody}`];
  if (canRun([...namespace, "true"])) return { prefix: [...namespace, ...stopWithParent], handOver: () => {} };

  const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];
  const handOver = (path: string): void => chownSync(path, nobody, nobody);
  handOver(dataDir);
  const unreachable = [binDir, dataDir].find((path) => !canRun([...asNobody, "test", "-x", path]));
  if (unreachable !== undefined) {
    throw new OperatorError(
      `PostgreSQL refuses to run as root, and this machine offers no way around it: user namespaces are disabled, and the user nobody cannot enter ${unreachable}.`,
      "Run Sluice as a normal user, move it to a folder that everyone may enter, or set DATABASE_URL to a PostgreSQL of your own.",
    );
  }
  // `--pdeathsig` comes last: changing the user would clear it.
  return { prefix: [...asNobody, ...stopWithParent], handOver };
}

function canRun(command: readonly string[]): boolean {
  const [program = "", ...rest] = command;
  return spawnSync(program, rest, { stdio: "ignore" }).status === 0;
}
