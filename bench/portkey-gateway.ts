import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findFreePort } from "../test/harness/gateway-process.ts";
import { waitUntil } from "../test/harness/wait-until.ts";

export const portkeyVersion = "1.15.2";

const folder = join(tmpdir(), `sluice-bench-portkey-${portkeyVersion}`);
const program = join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js");
const installMsMax = 120_000;

export type PortkeyGateway = { port: number; processId: number; close(): Promise<void> };

/** Portkey's gateway as its users start it, on our Node. It is not a dependency: it is downloaded if it is missing. */
export async function startPortkey(): Promise<PortkeyGateway> {
  if (!existsSync(program)) await install();
  const port = Number(await findFreePort());
  const child = spawn(process.execPath, [program, `--port=${port}`, "--headless"], { cwd: folder, stdio: "ignore" });
  process.once("exit", () => child.kill("SIGKILL"));
  const close = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  try {
    await waitUntil("Portkey is ready", async () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
      return await fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      );
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { port, processId: child.pid ?? 0, close };
}

async function install(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const words = ["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", folder];
  await promisify(execFile)("npm", [...words, `@portkey-ai/gateway@${portkeyVersion}`], { timeout: installMsMax });
}
