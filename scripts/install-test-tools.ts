import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync } from "node:fs";

/** Programs that only tests need, by Debian package. */
const tools = [
  { package: "chromium", isThere: () => existsSync("/usr/bin/chromium"), without: "browser tests are skipped" },
  {
    package: "chromium-headless-shell",
    isThere: () => existsSync("/usr/bin/chromium-headless-shell"),
    without: "browser tests take longer",
  },
  {
    package: "postgresql",
    isThere: () => globSync("/usr/lib/postgresql/*/bin/postgres").length > 0,
    without: "tests on an external PostgreSQL are skipped",
  },
  {
    package: "bubblewrap",
    isThere: () => existsSync("/usr/bin/bwrap"),
    without: "the tests of its confinement fail",
  },
  {
    package: "ffmpeg",
    isThere: () => existsSync("/usr/bin/ffmpeg"),
    without: "media uses the older ffmpeg of an npm package, and tests of the maintained one fail",
  },
  {
    package: "redis-server",
    isThere: () => existsSync("/usr/bin/redis-server"),
    without: "tests of shared counters are skipped",
  },
  {
    package: "haproxy",
    isThere: () => existsSync("/usr/sbin/haproxy"),
    without: "tests behind a proxy are skipped",
  },
  {
    package: "prometheus",
    isThere: () => existsSync("/usr/bin/prometheus") && existsSync("/usr/bin/promtool"),
    without: "tests of metrics and alerts with it are skipped",
  },
  {
    package: "libfaketime",
    isThere: () => globSync("/usr/lib/*/faketime/libfaketime.so.1").length > 0,
    without: "tests with wrong clocks are skipped",
  },
] as const;

/** Installs missing tools as root; otherwise prints which tests are skipped. */
export async function installTestTools(): Promise<void> {
  const missing = tools.filter((tool) => !tool.isThere());
  if (missing.length === 0) return;
  const names = missing.map((tool) => tool.package);
  if (process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) {
    console.log(`Installing ${names.join(" and ")} for the tests (once, a few minutes) …`);
    await runAptGet("update");
    // All at once takes half as long; one by one, an unavailable package does not block the others.
    if (!(await install(...names))) for (const name of names) await install(name);
  }
  for (const tool of missing.filter((candidate) => !candidate.isThere())) {
    console.warn(`${tool.package} is not installed, so ${tool.without}. Install it: apt-get install ${tool.package}`);
  }
}

async function install(...names: readonly string[]): Promise<boolean> {
  return await runAptGet("install", "--yes", "--no-install-recommends", ...names);
}

async function runAptGet(...words: readonly string[]): Promise<boolean> {
  const env = {
    ...process.env,
    DEBIAN_FRONTEND: "noninteractive",
    // Prevents the package from starting a server: the tests start their own.
    RUNLEVEL: "1",
  };
  const child = spawn("apt-get", ["-qq", ...words], { env, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  return code === 0;
}
