// Builds deploy/Dockerfile without Docker (Debian packages, npm and chroot; needs root), and runs it as in production: as
// its own user without capabilities, on a read-only root. Takes about five minutes.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { buildInFolders } from "./image/build-in-folders.ts";
import { listTexts, readExecForm, readPairs } from "./image/parse-dockerfile.ts";

const repositoryDir = join(import.meta.dirname, "..");
const readyMsMax = 60_000;
const port = "4299";
const siteUrl = `http://localhost:${port}`;

if (process.getuid?.() !== 0 || !existsSync("/usr/bin/mmdebstrap")) {
  console.error("This needs root and mmdebstrap: apt-get install mmdebstrap");
  process.exit(1);
}
const workDir = mkdtempSync(join(tmpdir(), "sluice-image-"));
try {
  await checkImage();
} finally {
  rmSync(workDir, { recursive: true, force: true });
}

async function checkImage(): Promise<void> {
  const dockerfile = join(repositoryDir, "deploy/Dockerfile");
  const startedAtMs = performance.now();
  const { rootDir, stage } = buildInFolders({ contextDir: repositoryDir, dockerfile, workDir });
  const say = (what: string): void =>
    console.log(`${((performance.now() - startedAtMs) / 1000).toFixed(0).padStart(4)} s  ${what}`);
  say(
    `built: ${measure(rootDir)} MB, including ${measure(join(rootDir, "opt/sluice"))} MB Sluice with its Node and PostgreSQL`,
  );

  const [user = ""] = listTexts(stage, "USER");
  const [volume = ""] = listTexts(stage, "VOLUME");
  const dataDir = join(workDir, "volume");
  mkdirSync(dataDir, { mode: 0o700 });
  execFileSync("chown", [user, dataDir]);
  const settings = { SLUICE_SITE_URL: siteUrl, SLUICE_HOST: "localhost", SLUICE_PORT: port };
  const environment = { ...readPairs(listTexts(stage, "ENV")), ...settings };
  const place = { rootDir, dataDir, volume, user, environment, folder: listTexts(stage, "WORKDIR").at(-1) ?? "/" };
  const entry = readExecForm(listTexts(stage, "ENTRYPOINT")[0] ?? "") ?? [];
  const command = readExecForm(listTexts(stage, "CMD")[0] ?? "") ?? [];
  const health = readExecForm(/CMD (.*)$/.exec(listTexts(stage, "HEALTHCHECK")[0] ?? "")?.[1] ?? "") ?? [];

  const gateway = start([...entry, ...command], place);
  await waitFor(
    "ready",
    async () => (await fetch(`${siteUrl}/readyz`).catch(() => null))?.status === 200,
    gateway.output,
  );
  say("ready, as a user without capabilities, on a read-only root");
  requireExit(0, await start(health, place).exited, "the health check of a running gateway");
  requireExit(1, await start(["touch", "/opt/sluice/written"], place).exited, "writing to the root");
  say(await callChat(dataDir));
  say(await uploadSound(dataDir));
  const doctor = start([...entry, "doctor"], place);
  const verdict = await doctor.exited;
  console.log(doctor.output().replaceAll(/^/gm, "        "));
  requireExit(0, verdict, "doctor");
  gateway.stop();
  requireExit(0, await gateway.exited, "the stop by SIGTERM");
  requireExit(1, await start(health, place).exited, "the health check of a stopped gateway");
  say("stopped");
}

function measure(folder: string): number {
  return Number(execFileSync("du", ["-sxm", folder], { encoding: "utf8" }).split("\t")[0]);
}

type Place = {
  rootDir: string;
  dataDir: string;
  volume: string;
  user: string;
  folder: string;
  environment: Record<string, string>;
};

type Running = { output(): string; stop(): void; exited: Promise<number | null> };

/** Like `docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --network host`. */
function start(command: readonly string[], { rootDir, dataDir, volume, user, folder, environment }: Place): Running {
  const mounts = [
    `mount --bind "${rootDir}" "${rootDir}"`,
    `mount -o remount,bind,ro "${rootDir}"`,
    `mount --bind "${dataDir}" "${rootDir}${volume}"`,
    `mount -t tmpfs tmpfs "${rootDir}/tmp"`,
    `mount --rbind /dev "${rootDir}/dev"`,
    `mount -t proc proc "${rootDir}/proc"`,
  ];
  const confined = `setpriv --reuid=${user} --regid=${user} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all`;
  const inside = `chroot "${rootDir}" ${confined} env --chdir=${folder} "$@"`;
  const child = spawn(
    "unshare",
    ["--mount", "sh", "-c", `${mounts.join(" && ")} && exec ${inside}`, "sh", ...command],
    {
      env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (piece: string) => {
      output += piece;
    });
  }
  const exited = new Promise<number | null>((settle) => child.once("close", settle));
  return { output: () => output, stop: () => child.kill("SIGTERM"), exited };
}

async function waitFor(what: string, look: () => Promise<boolean>, output: () => string): Promise<void> {
  const endMs = performance.now() + readyMsMax;
  while (!(await look())) {
    if (performance.now() > endMs) throw new Error(`The gateway is not ${what}:\n${output()}`);
    await wait(200);
  }
}

function requireExit(wanted: number, got: number | null, what: string): void {
  if (got !== wanted) throw new Error(`Exit code ${got} instead of ${wanted}: ${what}`);
}

function readKey(dataDir: string): string {
  const name = readdirSync(join(dataDir, "secrets")).find((each) => each.startsWith("demo-key"));
  return readFileSync(join(dataDir, "secrets", name ?? ""), "utf8").trim();
}

async function callChat(dataDir: string): Promise<string> {
  const headers = { authorization: `Bearer ${readKey(dataDir)}`, "content-type": "application/json" };
  const models = (await (await fetch(`${siteUrl}/v1/models?type=chat`, { headers })).json()) as {
    data: { id: string }[];
  };
  const body = JSON.stringify({ model: models.data[0]?.id, messages: [{ role: "user", content: "Hello" }] });
  const answer = await fetch(`${siteUrl}/v1/chat/completions`, { method: "POST", headers, body });
  if (answer.status !== 200) throw new Error(`chat: ${answer.status} ${await answer.text()}`);
  const { usage } = (await answer.json()) as { usage: { charge: string } };
  return `a chat call by ${models.data[0]?.id} was answered and charged ${usage.charge}`;
}

/** One second of silence, for ffprobe to detect type and duration. */
async function uploadSound(dataDir: string): Promise<string> {
  const sound = Buffer.alloc(44 + 16_000);
  sound.write("RIFF", 0);
  sound.writeUInt32LE(36 + 16_000, 4);
  sound.write("WAVEfmt ", 8);
  sound.writeUInt32LE(16, 16);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ] as const)
    sound.writeUInt16LE(value, at);
  sound.writeUInt32LE(8000, 24);
  sound.writeUInt32LE(16_000, 28);
  sound.write("data", 36);
  sound.writeUInt32LE(16_000, 40);
  const body = new FormData();
  body.set("purpose", "generation");
  body.set("file", new Blob([sound]), "silence.wav");
  const headers = { authorization: `Bearer ${readKey(dataDir)}` };
  const answer = await fetch(`${siteUrl}/v1/files`, { method: "POST", headers, body });
  if (answer.status >= 300) throw new Error(`upload: ${answer.status} ${await answer.text()}`);
  return `an upload was looked at and kept as ${((await answer.json()) as { content_type: string }).content_type}`;
}
