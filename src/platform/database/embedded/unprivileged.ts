import { spawnSync } from "node:child_process";
import { chownSync } from "node:fs";
import { OperatorError } from "../../errors/operator-error.ts";

/** How PostgreSQL's programs are started: the words before the program, and who owns their files. */
export type Launch = {
  prefix: readonly string[];
  /** Hands a file or folder to the user that PostgreSQL runs as. */
  giveAway(path: string): void;
};

const nobody = 65_534;

/**
 * PostgreSQL refuses to run as root. Inside a user namespace it sees itself as `nobody` while the files stay root's:
 * no user is created and a private home folder is no obstacle. Where namespaces are closed (many containers), it
 * becomes `nobody` for real, which needs folders that `nobody` can reach.
 */
export function chooseLaunch({ binDir, dataDir }: { binDir: string; dataDir: string }): Launch {
  const stopWithParent = canRun(["setpriv", "--pdeathsig", "INT", "true"]) ? ["setpriv", "--pdeathsig", "INT"] : [];
  if (process.getuid?.() !== 0) return { prefix: stopWithParent, giveAway: () => {} };

  const namespace = ["unshare", "--user", `--map-user=${nobody}`, `--map-group=${nobody}`];
  if (canRun([...namespace, "true"])) return { prefix: [...namespace, ...stopWithParent], giveAway: () => {} };

  const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];
  const giveAway = (path: string): void => chownSync(path, nobody, nobody);
  giveAway(dataDir);
  const unreachable = [binDir, dataDir].find((path) => !canRun([...asNobody, "test", "-x", path]));
  if (unreachable !== undefined) {
    throw new OperatorError(
      `PostgreSQL refuses to run as root, and this machine offers no way around it: user namespaces are closed, and the user nobody cannot enter ${unreachable}.`,
      "Run Sluice as a normal user, move it to a folder that everyone may enter, or set DATABASE_URL to a PostgreSQL of your own.",
    );
  }
  // The signal at the parent's death comes last: changing the user would clear it.
  return { prefix: [...asNobody, ...stopWithParent], giveAway };
}

function canRun(command: readonly string[]): boolean {
  const [program = "", ...rest] = command;
  return spawnSync(program, rest, { stdio: "ignore" }).status === 0;
}
