import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { findFreePort } from "../gateway-process.ts";
import { waitUntil } from "../wait-until.ts";

const program = "/usr/bin/prometheus";

export const hasPrometheus = existsSync(program) && existsSync("/usr/bin/promtool");

export type PrometheusServer = AsyncDisposable & {
  /** The `data` of an API response; throws its error. */
  ask<T>(path: string, query?: Record<string, string>): Promise<T>;
};

/** Debian's Prometheus, which scrapes a gateway every second under the job `sluice` and evaluates these rules. */
export async function startPrometheus(metricsPort: number, ruleFile: string): Promise<PrometheusServer> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-prometheus-"));
  const port = await findFreePort();
  const file = join(folder, "prometheus.yaml");
  const job = { job_name: "sluice", static_configs: [{ targets: [`127.0.0.1:${metricsPort}`] }] };
  const often = { scrape_interval: "1s", evaluation_interval: "1s" };
  writeFileSync(file, stringify({ global: often, rule_files: [ruleFile], scrape_configs: [job] }));
  const words = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn(program, words, { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    output += piece;
  });
  const exited = new Promise((settle) => child.once("close", settle));

  async function close(): Promise<void> {
    child.kill("SIGKILL");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  }

  async function ask<T>(path: string, query: Record<string, string> = {}): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(query)}`);
    const answer = (await response.json()) as { status: string; data: T; error?: string };
    if (answer.status !== "success") throw new Error(`${answer.error}: ${JSON.stringify(query)}`);
    return answer.data;
  }

  try {
    await waitUntil("Prometheus to be ready", async () => {
      if (child.exitCode !== null) throw new Error(`Prometheus ended: ${output}`);
      const answer = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => null);
      return answer?.status === 200;
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { ask, [Symbol.asyncDispose]: close };
}
