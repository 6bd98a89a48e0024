import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TaskCaller, TaskGateway } from "../../harness/tasks/task-gateway.ts";
import { buildUsersCli, openUsersCli, type UsersCli } from "../../harness/users-cli/users-cli.ts";
import { openCliGateway } from "../../harness/users-cli/users-cli-gateway.ts";

const model = "sandbox-chat";
const files = {
  "claude-code": ".claude/settings.json",
  codex: ".codex/config.toml",
  opencode: ".config/opencode/opencode.json",
} as const;

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
beforeEach(async () => {
  cli = openUsersCli(build.program);
  await cli.run(["login", "--site", site, "--key"], { input: `${caller.key}\n` });
});
afterEach(() => {
  expect(cli.seen()).not.toContain(caller.key);
  cli[Symbol.dispose]();
});

type AgentName = keyof typeof files;

function place(agent: AgentName, text: string): string {
  const path = join(cli.home, files[agent]);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

async function setUp(agent: AgentName, ...more: string[]) {
  const outcome = await cli.run(["agents", "setup", agent, "--model", model, ...more]);
  const path = join(cli.home, files[agent]);
  return { ...outcome, path, text: existsSync(path) ? readFileSync(path, "utf8") : null };
}

const claude = () => ({
  ANTHROPIC_BASE_URL: site,
  ANTHROPIC_AUTH_TOKEN: caller.key,
  ANTHROPIC_MODEL: model,
  ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
});

const codexTable = () => `[model_providers.sluice]
name = "Sluice"
base_url = "${site}/v1"
experimental_bearer_token = "${caller.key}"
wire_api = "responses"
supports_websockets = false
`;

const codexTop = `model = "${model}"
model_provider = "sluice"
web_search = "disabled"
`;

describe("agents setup", () => {
  test("writes each client's settings, readable by their owner only, and shows them without the key", async () => {
    for (const agent of Object.keys(files) as AgentName[]) {
      const { exitCode, stdout, stderr, path } = await setUp(agent);
      expect([exitCode, stderr], agent).toEqual([0, ""]);
      expect(stdout, agent).toContain(path);
      expect(stdout, agent).toContain(`…${caller.key.slice(-4)}`);
      expect(statSync(path).mode & 0o777, agent).toBe(0o600);
    }
    expect(JSON.parse(readFileSync(join(cli.home, files["claude-code"]), "utf8"))).toEqual({ env: claude() });
    expect(readFileSync(join(cli.home, files.codex), "utf8")).toBe(`${codexTop}\n${codexTable()}`);
    expect(JSON.parse(readFileSync(join(cli.home, files.opencode), "utf8"))).toMatchObject({
      model: `sluice/${model}`,
      provider: { sluice: { options: { baseURL: `${site}/v1`, apiKey: caller.key }, models: { [model]: {} } } },
    });
  });

  test("with --print shows the settings and writes nothing", async () => {
    for (const agent of Object.keys(files) as AgentName[]) {
      const { exitCode, stdout, text } = await setUp(agent, "--print");
      expect([exitCode, text], agent).toEqual([0, null]);
      expect(stdout, agent).toContain(site);
    }
  });

  test("keeps every other setting, and a second setup replaces only its own", async () => {
    place("claude-code", JSON.stringify({ theme: "dark", env: { HTTP_PROXY: "x" }, permissions: { allow: ["Bash"] } }));
    place("opencode", JSON.stringify({ theme: "nord", provider: { other: { name: "Other" } } }));
    place(
      "codex",
      `# mine
approval_policy = "never"

[model_providers.other]
name = "Other"
notes = """
[model_providers.sluice]
model = "not a setting"
"""

[projects."/home/me"]
trust_level = "trusted"
`,
    );
    for (const _time of [1, 2]) {
      for (const agent of Object.keys(files) as AgentName[]) expect((await setUp(agent)).exitCode, agent).toBe(0);
    }
    expect(JSON.parse(readFileSync(join(cli.home, files["claude-code"]), "utf8"))).toEqual({
      ...{ theme: "dark", permissions: { allow: ["Bash"] }, env: { HTTP_PROXY: "x", ...claude() } },
    });
    expect(JSON.parse(readFileSync(join(cli.home, files.opencode), "utf8"))).toMatchObject({
      ...{ theme: "nord", provider: { other: { name: "Other" }, sluice: { name: "Sluice" } } },
    });
    expect(readFileSync(join(cli.home, files.codex), "utf8")).toBe(`${codexTop}# mine
approval_policy = "never"

[model_providers.other]
name = "Other"
notes = """
[model_providers.sluice]
model = "not a setting"
"""

[projects."/home/me"]
trust_level = "trusted"

${codexTable()}`);
  });

  test.each<[AgentName, string, string]>([
    ["claude-code", JSON.stringify({ env: { ANTHROPIC_BASE_URL: "https://other.example" } }), "env.ANTHROPIC_BASE_URL"],
    ["codex", 'model = "gpt-5"\nmodel_provider = "azure"\n', "model, model_provider"],
    ["opencode", JSON.stringify({ model: "openai/gpt-5" }), "model"],
    ["opencode", '{ // a comment\n "theme": "nord" }', "plain JSON"],
    ["codex", 'model_providers = { sluice = { name = "x" } }\n', "model_providers"],
  ])("changes nothing if other settings of %s are in the way: %s", async (agent, text, named) => {
    const path = place(agent, text);
    const { exitCode, stderr, text: after } = await setUp(agent);
    expect([exitCode, after]).toEqual([1, text]);
    expect(stderr).toContain(named);
    expect(stderr).toContain("--print");
    expect(existsSync(path)).toBe(true);
  });

  test("needs a sign-in, a known model and a known agent", async () => {
    const unknown = await cli.run(["agents", "setup", "codex", "--model", "nothing"]);
    expect([unknown.exitCode, existsSync(join(cli.home, files.codex))]).toEqual([1, false]);
    expect((await cli.run(["agents", "setup", "emacs"])).exitCode).toBe(2);
    await cli.run(["logout"]);
    expect((await setUp("codex")).exitCode).toBe(3);
  });

  test("leaves the file as it was if it can't be written", async () => {
    const path = place("opencode", "{}");
    chmodSync(dirname(path), 0o500);
    try {
      const { exitCode, text } = await setUp("opencode");
      // Root may write anywhere.
      expect([exitCode, text === "{}"]).toEqual(process.getuid?.() === 0 ? [0, false] : [1, true]);
    } finally {
      chmodSync(dirname(path), 0o700);
    }
  });
});
