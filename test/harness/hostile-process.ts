// Tries what a compromised decoder would try, and prints what worked. Started by confinement.test.ts in the same way as
// a decoder.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { createConnection, createServer } from "node:net";
import { dirname, join } from "node:path";
import { json } from "node:stream/consumers";

export type HostileOrder = {
  dataDir: string;
  own: string;
  other: string;
  made: string;
  elsewhere: string;
  port: number;
  gateway: number;
};

const { dataDir, own, other, made, elsewhere, port, gateway } = (await json(process.stdin)) as HostileOrder;
const outcome: Record<string, string> = {};

async function attempt(what: string, act: () => unknown): Promise<void> {
  try {
    await act();
    outcome[what] = "done";
  } catch (error) {
    outcome[what] = String((error as NodeJS.ErrnoException).code ?? error);
  }
}

function connect(options: { host: string; port: number } | { path: string }): Promise<void> {
  return new Promise((connected, fail) => createConnection(options, connected).on("error", fail));
}

function run(program: string, ...words: string[]): void {
  const { error, status } = spawnSync(program, words);
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`ended with ${status}`);
}

await attempt("read its input", () => fs.readFileSync(own));
await attempt("write its output", () => fs.writeFileSync(made, "made"));

await attempt("read the master key", () => fs.readFileSync(join(dataDir, "master-key")));
await attempt("find the master key", () => {
  if (!fs.readdirSync(dataDir).includes("master-key")) throw new Error("not there");
});
await attempt("read another upload", () => fs.readFileSync(other));
await attempt("read the users of the machine", () => fs.readFileSync("/etc/passwd"));
await attempt("read the gateway's environment", () => fs.readFileSync(`/proc/${gateway}/environ`));
await attempt("read the gateway's memory", () => fs.openSync(`/proc/${gateway}/mem`, "r"));

await attempt("change its input", () => fs.writeFileSync(own, "changed"));
await attempt("truncate its input", () => fs.truncateSync(own));
await attempt("open its input to everybody", () => fs.chmodSync(own, 0o777));
await attempt("change another upload", () => fs.appendFileSync(other, "changed"));
await attempt("remove another upload", () => fs.unlinkSync(other));
await attempt("write beside its output", () => fs.writeFileSync(join(dirname(made), "beside"), "x"));
await attempt("replace its output by a link", () => fs.symlinkSync(other, `${made}.link`));
await attempt("write elsewhere", () => fs.writeFileSync(join(elsewhere, "hostile"), "x"));
await attempt("write into the root folder", () => fs.mkdirSync(`/hostile-${gateway}`));
await attempt("change the program", () => fs.appendFileSync(import.meta.filename, "\n"));

await attempt("connect to a server of this machine", () => connect({ host: "127.0.0.1", port }));
await attempt("connect to a socket in the data directory", () => connect({ path: join(dataDir, "socket") }));
await attempt("listen", () => {
  return new Promise((listening, fail) =>
    createServer()
      .on("error", fail)
      .listen(0, "127.0.0.1", () => listening(0)),
  );
});
await attempt("end the gateway", () => process.kill(gateway, "SIGCONT"));
await attempt("start a program", () => run(process.execPath, "--version"));
await attempt("start a shell", () => run("/bin/sh", "-c", "true"));
await attempt("know a secret of the environment", () => {
  const known = Object.keys(process.env).filter((name) => name !== "OPENSSL_CONF" && name !== "PWD");
  if (known.length === 0) throw new Error("nothing is known");
});

process.stdout.write(JSON.stringify(outcome));
process.exit();
