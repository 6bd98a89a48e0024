// @module-tag extended
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { revokeApiKey } from "../../../src/features/accounts/index.ts";
import { findFreePort } from "../../harness/gateway-process.ts";
import { startRecordingServer } from "../../harness/servers/recording-server.ts";
import type { TaskCaller, TaskGateway } from "../../harness/tasks/task-gateway.ts";
import {
  buildUsersCli,
  cliDir,
  findOnMachine,
  openUsersCli,
  type UsersCli,
} from "../../harness/users-cli/users-cli.ts";
import { openCliGateway } from "../../harness/users-cli/users-cli-gateway.ts";

let stage: TaskGateway;
let site: string;
let build: ReturnType<typeof buildUsersCli>;
let caller: TaskCaller;
let cli: UsersCli;

beforeAll(async () => {
  build = buildUsersCli();
  ({ stage, site } = await openCliGateway());
  caller = await stage.createCaller();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  build[Symbol.dispose]();
});
beforeEach(() => {
  cli = openUsersCli(build.program);
});
afterEach(() => {
  expect(cli.seen()).not.toContain(caller.key);
  cli[Symbol.dispose]();
});

async function signIn(key = caller.key): Promise<void> {
  const { exitCode, stderr } = await cli.run(["login", "--site", site, "--key"], { input: `${key}\n` });
  expect([exitCode, stderr]).toEqual([0, ""]);
}

test("packed and installed into an empty folder, it runs on the machine's own Node, and is small", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-pack-"));
  try {
    const [packageDir, emptyDir] = [join(folder, "package"), join(folder, "empty")];
    for (const path of [packageDir, emptyDir]) mkdirSync(path);
    for (const name of ["package.json", "README.md"]) cpSync(join(cliDir, name), join(packageDir, name));
    cpSync(join(build.folder, "dist"), join(packageDir, "dist"), { recursive: true });
    const [node, npm] = [findOnMachine("node"), findOnMachine("npm")];
    const env = { PATH: "/usr/bin:/bin", HOME: folder };
    const packed = execFileSync(npm, ["pack", "--silent"], { cwd: packageDir, env, encoding: "utf8" }).trim();
    expect(statSync(join(packageDir, packed)).size).toBeLessThan(200_000);
    const install = ["install", "--offline", "--no-audit", "--no-fund", "--prefix", emptyDir, join(packageDir, packed)];
    execFileSync(npm, install, { cwd: emptyDir, env, stdio: "pipe" });
    expect(readdirSync(join(emptyDir, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["@sluice"]);
    const { version } = JSON.parse(readFileSync(join(cliDir, "package.json"), "utf8"));
    const told = execFileSync(join(emptyDir, "node_modules/.bin/sluice"), ["--version"], { env, encoding: "utf8" });
    expect(told).toBe(`${version}\n`);
    expect(execFileSync(node, ["--version"], { encoding: "utf8" })).toMatch(/^v(2\d|[3-9]\d)\./);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("help", () => {
  test("lists every command and points operators to theirs; each command has its own options and examples", async () => {
    const overview = await cli.run(["--help"]);
    expect(overview.exitCode).toBe(0);
    expect(overview.stdout).toContain("npm run -s sluice --");
    const names = [...overview.stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?)(?= {2}| [<[])/gm)].map(
      ([, name = ""]) => name,
    );
    expect(names).toEqual(expect.arrayContaining(["login", "chat", "drama", "tasks wait", "webhooks listen"]));
    for (const name of names) {
      const { exitCode, stdout } = await cli.run([...name.split(" "), "--help"]);
      expect([name, exitCode]).toEqual([name, 0]);
      expect(stdout).toMatch(/Usage: sluice [\s\S]*--json[\s\S]*Examples:\n {2}# /);
    }
  });

  test.each([[["help", "tasks"]], [["tasks", "--help"]], [["help", "webhooks"]], [["webhooks", "--help"]]])(
    "%j lists the commands of the group",
    async (words: string[]) => {
      const { exitCode, stdout } = await cli.run(words);
      const own = words.includes("tasks") ? /Options:[\s\S]*Commands:[\s\S]*tasks cancel <task>/ : /webhooks listen /;
      expect([exitCode, stdout]).toEqual([0, expect.stringMatching(own)]);
    },
  );

  test.for([
    [["unheard-of"], /Unknown command "unheard-of"\.\n {2}See: sluice help\n$/],
    [["imgae", "a cat", "--size", "1x1"], /Unknown command "imgae"\.\n {2}Did you mean: sluice image\n/],
    [
      ["tasks", "cancle", "task_1"],
      /Unknown command "tasks cancle"\.\n {2}Did you mean: sluice tasks cancel\n {2}See: sluice help tasks/,
    ],
    [["webhooks", "lisen"], /Unknown command "webhooks lisen"\.\n {2}Did you mean: sluice webhooks listen\n/],
    [["help", "modles"], /Did you mean: sluice models\n/],
    [["models", "--typ=chat"], /Unknown option --typ\. Did you mean --type\?\n {2}See: sluice models --help\n$/],
    [["models", "-x"], /Unknown option -x\.\n/],
    [["models", "--type"], /--type needs a value: --type <type>\./],
    [["image", "x", "--size", "--wait"], /--size needs a value, but "--wait" is an option/],
    [["models", "--json=yes"], /--json takes no value/],
    [["webhooks"], /^$/],
    [["tasks", "show"], /Missing argument: <task>/],
    [["tasks", "show", "a", "b"], /Unexpected argument "b"/],
    [["models", "--type", "smell"], /--type can be chat, image, .*not "smell"/],
    [["image", "x", "--n", "two"], /--n takes a whole number, not "two"/],
    [["image"], /Usage: sluice image <prompt…>/],
    [["image", "x", "--input", "nowhere.png"], /Cannot read the file "nowhere\.png"/],
    [["image", "x", "--wait", "--no-wait"], /not both/],
    [["drama", "--reference", "Anna"], /--reference takes name=value/],
    [["completion", "tcsh"], /can be bash, zsh, fish/],
    [["models", "--site", "http://example.com"], /unencrypted/],
    [["models", "--site", "https://u:p@example.com"], /not a valid server URL/],
    [["login", "--client", "?"], /--client takes 2 to 64/],
  ] as const)("wrong usage is exit code 2 and named: %s", async ([words, complaint]) => {
    const { exitCode, stdout, stderr } = await cli.run([...words]);
    expect([exitCode, words.length === 1 && words[0] === "webhooks" ? "" : stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(complaint);
  });
});

describe("a key", () => {
  test("is stored where only its owner can read it, and used from there", async () => {
    await signIn();
    expect(statSync(cli.credentialsFile).mode & 0o777).toBe(0o600);
    expect(statSync(join(cli.credentialsFile, "..")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(cli.credentialsFile, ".."))).toEqual(["credentials.json"]);
    const { exitCode, stdout } = await cli.run(["whoami"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`${site}, with the key …${caller.key.slice(-4)}`);
    expect(stdout).toContain("10.00 USD available");
  });

  test("in a file that others could read gets its permissions restricted again", async () => {
    await signIn();
    execFileSync("chmod", ["644", cli.credentialsFile]);
    expect((await cli.run(["whoami"])).exitCode).toBe(0);
    expect(statSync(cli.credentialsFile).mode & 0o777).toBe(0o600);
  });

  test("that the server does not know is not stored", async () => {
    const wrong = `sk-slc-${"a".repeat(36)}`;
    const answer = await cli.run(["login", "--site", site, "--key"], { input: wrong });
    expect(answer.exitCode).toBe(3);
    expect(answer.stderr).toContain("sluice login");
    expect(existsSync(cli.credentialsFile)).toBe(false);
    expect((await cli.run(["login", "--site", site, "--key"], { input: "hello" })).exitCode).toBe(2);
  });

  test("is stored per server, and forgetting one leaves the others", async () => {
    const other = site.replace("127.0.0.1", "localhost");
    await signIn();
    await cli.run(["login", "--site", other, "--key"], { input: caller.key });
    expect((await cli.run(["whoami"])).stdout).toContain(other);
    expect((await cli.run(["logout"])).stdout).toContain(`${other}/console`);
    expect((await cli.run(["whoami"])).stdout).toContain(site);
    expect((await cli.run(["whoami", "--site", other])).exitCode).toBe(3);
    expect(JSON.parse((await cli.run(["logout", "--json"])).stdout)).toEqual({ site, forgotten: true });
    expect(readFileSync(cli.credentialsFile, "utf8")).not.toContain(caller.key);
  });

  test("can also come from the environment, and is not stored then", async () => {
    const environment = { SLUICE_API_KEY: caller.key, SLUICE_SITE: site };
    expect((await cli.run(["balance"], { environment })).exitCode).toBe(0);
    expect(() => statSync(cli.credentialsFile)).toThrow();
  });

  test("that was revoked is exit code 3 with what to do next", async () => {
    const gone = await stage.createCaller();
    await signIn(gone.key);
    await revokeApiKey(stage.gateway.parts, gone.keyId);
    const { exitCode, stdout, stderr } = await cli.run(["chat", "Hello"]);
    expect([exitCode, stdout]).toEqual([3, ""]);
    expect(stderr).toContain("Sign in again: sluice login");
  });

  test("is required, also with JSON output", async () => {
    const { exitCode, stderr } = await cli.run(["balance"]);
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining("Run: sluice login")]);
    const told = await cli.run(["balance", "--json"]);
    expect([told.exitCode, told.stdout]).toEqual([3, ""]);
    expect(JSON.parse(told.stderr)).toMatchObject({ error: { remedy: "Run: sluice login" } });
  });

  test("is not echoed while the user types it", async () => {
    const typing = cli.startOnTerminal(["login", "--site", site, "--key"]);
    await typing.sees(/API key \(hidden\): /);
    typing.write(`${caller.key}\r`);
    expect(await typing.ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Signed in") });
  });

  test("is not sent to the target of a redirect", async () => {
    await using elsewhere = await startRecordingServer((_request, response) => void response.end("{}"));
    await using server = await startRecordingServer((_request, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/balance` }).end();
    });
    const environment = { SLUICE_API_KEY: caller.key, SLUICE_SITE: server.url };
    expect((await cli.run(["balance"], { environment })).exitCode).toBe(1);
    expect([server.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
  });

  test("in a broken file is reported, and nothing is lost", async () => {
    await signIn();
    writeFileSync(cli.credentialsFile, "{");
    const { exitCode, stderr } = await cli.run(["balance"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Cannot read")]);
    expect(readFileSync(cli.credentialsFile, "utf8")).toBe("{");
  });
});

describe("models and money", () => {
  beforeEach(() => signIn());

  test("models can be listed by kind, and one described", async () => {
    const { stdout } = await cli.run(["models", "--type", "image"]);
    expect(stdout.split("\n")[0]).toMatch(/^MODEL +TYPE +STATUS +NAME$/);
    expect(stdout).toMatch(/^sandbox-image +image +available/m);
    expect(stdout).not.toContain("sandbox-chat");
    expect((await cli.run(["models", "sandbox-image"])).stdout).toContain("64x64");
    const list = JSON.parse((await cli.run(["--json", "models", "--type", "chat"])).stdout);
    expect(list.data).toMatchObject([{ id: "sandbox-chat" }]);
    const unknown = await cli.run(["models", "nobody's"]);
    expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining("sluice models")]);
  });

  test("the balance is that of the API", async () => {
    const { stdout } = await cli.run(["balance", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ object: "balance", available_balance: "10.00" });
    expect((await cli.run(["balance"])).stdout).toMatch(/available +10\.00 USD/);
  });

  test("an unreachable server is exit code 1, with what to check", async () => {
    const host = `127.0.0.1:${await findFreePort()}`;
    const environment = { SLUICE_API_KEY: caller.key, SLUICE_SITE: `http://${host}` };
    const { exitCode, stderr } = await cli.run(["chat", "Hello", "--model", "x"], { environment });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`Cannot connect to ${host}`);
  });
});

describe("completion", () => {
  test("for bash is a script that bash accepts, and that completes commands, options and choices", async () => {
    const { stdout } = await cli.run(["completion", "bash"]);
    const script = join(cli.home, "completion.bash");
    writeFileSync(script, stdout);
    const complete = (...words: string[]): string[] => {
      const ask = `source ${script}; COMP_WORDS=(sluice "$@"); COMP_CWORD=$#; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", ask, "bash", ...words], { encoding: "utf8" })
        .trim()
        .split("\n");
    };
    expect(complete("lo")).toEqual(["login", "logout"]);
    expect(complete("tasks", "")).toEqual(expect.arrayContaining(["list", "show", "wait", "cancel", "download"]));
    expect(complete("tasks", "wait", "--f")).toEqual(["--force"]);
    expect(complete("models", "--t")).toEqual(["--type"]);
    expect(complete("models", "--type", "")).toEqual([
      "chat",
      "image",
      "video",
      "avatar",
      "drama",
      "speech",
      "embedding",
      "transcription",
    ]);
    expect(complete("models", "x", "--type", "s")).toEqual(["speech"]);
    expect(complete("webhooks", "")).toEqual(["listen"]);
    expect(complete("completion", "z")).toEqual(["zsh"]);
  });

  test.for(["zsh", "fish"])("for %s has every command, and the shell accepts it if installed", async (shell) => {
    const { exitCode, stdout } = await cli.run(["completion", shell]);
    expect(exitCode).toBe(0);
    for (const name of ["login", "speech", "download", "--forward-to".slice(2)]) expect(stdout).toContain(name);
    let program: string;
    try {
      program = findOnMachine(shell);
    } catch {
      // Not every machine has it.
      return;
    }
    const script = join(cli.home, `completion.${shell}`);
    writeFileSync(script, stdout);
    execFileSync(program, ["-n", script]);
  });
});
