import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OperatorError } from "../errors/operator-error.ts";
import { isLoopbackUrl, loadSettings, type Settings } from "./load-settings.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-settings-"));
});

afterEach(() => rmSync(directory, { recursive: true }));

function loadEnvironment(environment: Record<string, string>): Settings {
  return loadSettings({ environment, directory, cores: 2 });
}

function loadFile(text: string, environment: Record<string, string> = {}): Settings {
  writeFileSync(join(directory, "sluice.yaml"), text);
  return loadEnvironment(environment);
}

/** The sentence and the remedy that the operator reads, with `<dir>` for the temporary directory. */
function refusalOf(load: () => unknown): string {
  try {
    load();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return `${error.message} ${error.remedy}`.replaceAll(directory, "<dir>");
  }
  throw new Error("The settings were accepted.");
}

describe("where settings come from", () => {
  test("without a file and variables every setting has its standard value", () => {
    expect(loadEnvironment({})).toEqual({
      site_url: "http://localhost:4242",
      base_url: "http://localhost:4242/v1",
      host: "localhost",
      port: 4242,
      metrics_port: undefined,
      metrics_host: "127.0.0.1",
      data_dir: join(directory, ".sluice"),
      packages_dir: join(directory, ".sluice", "packages"),
      database_url: undefined,
      currency: "USD",
      disabled_endpoints: [],
      drained_calls_max: 20,
      media_confinement: "preferred",
      unpaid_files_max: 20,
      unpaid_storage_bytes_max: 20_971_520,
      unpaid_text_bytes_max: 8_388_608,
      event_streams_max: 100,
      redis_url: undefined,
      database_connections: 12,
      database_start_timeout_ms: 60_000,
      sandbox: "on",
      trusted_proxies: [],
      log_level: "info",
      log_format: "auto",
      otlp_endpoint: undefined,
      otlp_headers: undefined,
      otel_service_name: "sluice",
      otlp_metrics_interval_ms: 60_000,
      traces_sampler: "parentbased_always_on",
      traces_sampler_arg: 1,
      traces_callers_per_second_max: 10,
      traces_delay_ms: 2000,
      idempotency_hours: 24,
      stream_heartbeat_ms: 15_000,
      json_body_bytes_max: 20_971_520,
      json_structure_max: 80_000,
      header_bytes_max: 16_384,
      header_timeout_ms: 15_000,
      request_timeout_ms: 120_000,
      shutdown_delay_ms: 0,
      shutdown_timeout_ms: 30_000,
      secret_key: undefined,
      processes: 1,
      roles: ["http", "worker"],
      unshared_nodes: "refuse",
      worker_steps_max: 256,
      upload_bytes_max: 104_857_600,
      account_files_max: 10_000,
      account_storage_bytes_max: 21_474_836_480,
      account_text_bytes_max: 268_435_456,
      file_days: 30,
      response_days: 30,
      request_log_days: 30,
      task_days: 0,
      prompt_days: 0,
      content_log_days: 7,
      s3_bucket: undefined,
      s3_endpoint: undefined,
      s3_region: "us-east-1",
      s3_access_key_id: undefined,
      s3_secret_access_key: undefined,
      s3_path_style: "off",
      sign_up: "open",
      welcome_credit: "5",
      welcome_credit_days: 30,
      welcome_credits_daily_max: 100,
      support_contact: undefined,
      smtp_url: undefined,
      mail_from: "Sluice <no-reply@localhost>",
      brand_name: "Sluice",
      brand_logo_file: undefined,
      brand_accent: undefined,
      brand_accent_dark: undefined,
      terms_url: undefined,
      privacy_url: undefined,
      status_url: undefined,
      announcement: undefined,
      announcement_level: "info",
      announcement_url: undefined,
      oidc: [],
      stripe_secret_key: undefined,
      stripe_webhook_secret: undefined,
      payment_amount_min: 5,
      payment_amount_max: 1000,
      tls_cert_file: undefined,
      tls_key_file: undefined,
    });
  });

  test("there are as many processes as cores, but for one, and for another where the database is the gateway's own", () => {
    const count = (cores: number, environment: Record<string, string> = {}): number =>
      loadSettings({ environment, directory, cores }).processes;
    const external = { DATABASE_URL: "postgres://sluice@db.example.com/sluice" };
    expect([1, 2, 3, 4, 16].map((cores) => count(cores))).toEqual([1, 1, 1, 2, 14]);
    expect([1, 2, 3, 4, 16].map((cores) => count(cores, external))).toEqual([1, 1, 2, 3, 15]);
    expect(count(16, { SLUICE_PROCESSES: "2" })).toBe(2);
  });

  test("roles are words of a list, at least one", () => {
    expect(loadEnvironment({ SLUICE_ROLES: "worker" }).roles).toEqual(["worker"]);
    expect(loadFile("roles: [worker, http]\n").roles).toEqual(["http", "worker"]);
    const refusal = (text: string): string => refusalOf(() => loadFile(text));
    expect(refusal("roles: []\n")).toContain("Write one or more of http, worker");
    expect(refusal("roles: [cook]\n")).toContain("Write one or more of http, worker");
  });

  test("a public site takes nobody in unless it is told to, and mails in its own name", () => {
    const settings = loadEnvironment({ SLUICE_SITE_URL: "https://ai.example.com" });
    expect(settings).toMatchObject({
      sign_up: "closed",
      welcome_credit: "0",
      mail_from: "Sluice <no-reply@ai.example.com>",
    });
    expect(loadEnvironment({ SLUICE_BRAND_NAME: "Acme, Inc." }).mail_from).toBe('"Acme, Inc." <no-reply@localhost>');
    expect(loadEnvironment({ SLUICE_SITE_URL: "https://ai.example.com", SLUICE_SIGN_UP: "open" }).sign_up).toBe("open");
  });

  const provider = {
    id: "example",
    name: "Example",
    issuer: "https://accounts.example.com",
    client_id: "sluice",
    client_secret: "${EXAMPLE_SECRET}",
  };

  test("OpenTelemetry's own variables say where traces go, which ones, and by which headers", () => {
    const settings = loadEnvironment({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/",
      OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20one, x-team=${TEAM}",
      OTEL_SERVICE_NAME: "gateway-eu",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.05",
    });
    expect(settings).toMatchObject({
      otlp_endpoint: "http://collector:4318",
      otlp_headers: { authorization: "Bearer one", "x-team": "${TEAM}" },
      otel_service_name: "gateway-eu",
      traces_sampler: "parentbased_traceidratio",
      traces_sampler_arg: 0.05,
    });
    expect(loadFile("traces_sampler_arg: 0.5\n").traces_sampler_arg).toBe(0.5);
  });

  test.for([
    ["OTEL_TRACES_SAMPLER", "jaeger_remote"],
    ["OTEL_TRACES_SAMPLER_ARG", "2"],
    ["OTEL_TRACES_SAMPLER_ARG", "-1"],
    ["OTEL_TRACES_SAMPLER_ARG", "half"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "s3cret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=%zz-s3cret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=s3cret%0a"],
  ] as const)("%s is not %s, and no secret is repeated", ([variable, value]) => {
    const refusal = refusalOf(() => loadEnvironment({ [variable]: value }));
    expect(refusal).toContain(`The setting ${variable} is`);
    expect(refusal).not.toContain("s3cret");
  });

  test("services to sign in with are a YAML list of maps, or the same as JSON", () => {
    const lines = Object.entries(provider).map(([name, value]) => `    ${name}: ${value}`);
    expect(loadFile(`oidc:\n  -\n${lines.join("\n")}\n`).oidc).toEqual([provider]);
    expect(loadEnvironment({ SLUICE_OIDC: JSON.stringify([provider]) }).oidc).toEqual([provider]);
  });

  test.each([
    ["no list", JSON.stringify(provider)],
    ["no JSON", "example"],
    ["a field missing", JSON.stringify([{ ...provider, client_id: undefined }])],
    ["a field too many", JSON.stringify([{ ...provider, scope: "x" }])],
    ["an id that is no part of a path", JSON.stringify([{ ...provider, id: "a/b" }])],
    ["an issuer that is not encrypted", JSON.stringify([{ ...provider, issuer: "http://accounts.example.com" }])],
    ["two of one id", JSON.stringify([provider, provider])],
  ])("with %s they are refused, and no secret of theirs is repeated", (_name, text) => {
    const load = () => loadEnvironment({ SLUICE_OIDC: text.replace("${EXAMPLE_SECRET}", "hunter2") });
    expect(load).toThrow("The setting SLUICE_OIDC is no such list.");
  });

  test.each(["", "# nothing but a comment\n", "\n\n"])("a file without settings (%j) is as good as none", (text) => {
    expect(loadFile(text)).toEqual(loadEnvironment({}));
  });

  test("file and environment add up, and the environment wins", () => {
    const settings = loadFile("port: 5000\nhost: 127.0.0.2\n", { SLUICE_PORT: "6000", SLUICE_LOG_LEVEL: "warn" });
    expect(settings).toMatchObject({ port: 6000, host: "127.0.0.2", log_level: "warn" });
  });

  test("an empty variable counts as absent", () => {
    const settings = loadFile("port: 5000\n", { SLUICE_PORT: "", SLUICE_SITE_URL: "", DATABASE_URL: "" });
    expect(settings).toMatchObject({ port: 5000, site_url: "http://localhost:5000", database_url: undefined });
  });

  test("DATABASE_URL counts, and SLUICE_DATABASE_URL wins over it, in whatever order they were set", () => {
    const [alias, own] = [{ DATABASE_URL: "postgres://alias/db" }, { SLUICE_DATABASE_URL: "postgresql://own/db" }];
    expect(loadFile("database_url: postgres://file/db\n", alias).database_url).toBe("postgres://alias/db");
    expect(loadEnvironment({ ...alias, ...own }).database_url).toBe("postgresql://own/db");
    expect(loadEnvironment({ ...own, ...alias }).database_url).toBe("postgresql://own/db");
  });

  test("SLUICE_CONFIG names another file, which is then the only one", () => {
    writeFileSync(join(directory, "other.yaml"), "port: 7000\n");
    const settings = loadFile("host: 127.0.0.2\n", { SLUICE_CONFIG: "other.yaml" });
    expect(settings).toMatchObject({ port: 7000, host: "localhost" });
    expect(loadEnvironment({ SLUICE_CONFIG: join(directory, "other.yaml") }).port).toBe(7000);
  });

  test("an empty SLUICE_CONFIG counts as absent", () => {
    expect(loadFile("port: 7000\n", { SLUICE_CONFIG: "" }).port).toBe(7000);
  });

  test("a file that SLUICE_CONFIG names must be a file", () => {
    const refusal = refusalOf(() => loadEnvironment({ SLUICE_CONFIG: "." }));
    expect(refusal).toContain("The settings file <dir> cannot be read.");
  });

  test("a file that SLUICE_CONFIG names must exist", () => {
    const refusal = refusalOf(() => loadEnvironment({ SLUICE_CONFIG: "gone.yaml" }));
    expect(refusal).toContain("The settings file <dir>/gone.yaml does not exist. Create it, or correct");
  });
});

describe("values that files have", () => {
  const path = () => join(directory, "database-url");

  test("a variable with _FILE after it names the file that has the value", () => {
    writeFileSync(path(), "postgres://own/db\n");
    for (const variable of ["SLUICE_DATABASE_URL_FILE", "DATABASE_URL_FILE"]) {
      expect(loadEnvironment({ [variable]: path() }).database_url).toBe("postgres://own/db");
    }
    expect(loadEnvironment({ DATABASE_URL_FILE: "" }).database_url).toBeUndefined();
  });

  test("a file that is missing, wrong or beside a value is refused, and what it has is not repeated", () => {
    writeFileSync(path(), "mysql://user:hunter2@db/x");
    const variables = { DATABASE_URL_FILE: path() };
    expect(refusalOf(() => loadEnvironment(variables))).toBe(
      "The setting DATABASE_URL_FILE is not such an address. Write an address such as postgres://user:password@host:5432/database.",
    );
    expect(refusalOf(() => loadEnvironment({ ...variables, DATABASE_URL: "postgres://a/b" }))).toContain(
      "Both DATABASE_URL and DATABASE_URL_FILE are set.",
    );
    expect(refusalOf(() => loadEnvironment({ SLUICE_SECRET_KEY_FILE: "/nowhere" }))).toContain(
      "The file /nowhere, which SLUICE_SECRET_KEY_FILE names, cannot be read.",
    );
    expect(refusalOf(() => loadEnvironment({ SLUICE_NOTHING_FILE: path() }))).toContain("There is no setting");
  });
});

describe("settings that do not exist", () => {
  test.each([
    ["port: 1\nsiteurl: x\n", "There is no setting siteurl (<dir>/sluice.yaml:2:1). Did you mean site_url?"],
    ["  prot: 1\n", "There is no setting prot (<dir>/sluice.yaml:1:3). Did you mean port?"],
    ["something_else: 1\n", "There is no setting something_else (<dir>/sluice.yaml:1:1). Remove it; "],
    ["__proto__: { port: 1 }\n", "There is no setting __proto__ (<dir>/sluice.yaml:1:1). Remove it; "],
  ])("in the file, %j is refused with its place and the nearest name", (text, expected) => {
    expect(refusalOf(() => loadFile(text))).toContain(expected);
  });

  test("in the environment, only names that begin with SLUICE_ are ours to refuse", () => {
    const refusal = refusalOf(() => loadEnvironment({ SLUICE_PROT: "1" }));
    expect(refusal).toBe("There is no setting SLUICE_PROT. Did you mean SLUICE_PORT?");
    expect(refusalOf(() => loadEnvironment({ SLUICE_CONFIGG: "x" }))).toContain("Did you mean SLUICE_CONFIG?");
    expect(loadEnvironment({ PORT: "1", HOST: "example.com", port: "2" })).toEqual(loadEnvironment({}));
  });
});

describe("files that are no list of settings", () => {
  const notYaml = "The settings file is not valid YAML at";
  test.each([
    ["a bracket left open", "port: 1\nhost: [a\n", `${notYaml} <dir>/sluice.yaml:3:1.`],
    ["two colons", "port: 1\nhost: a: b\n", `${notYaml} <dir>/sluice.yaml:2:7.`],
    ["a setting written twice", "port: 1\nport: 2\n", "A setting is written twice (<dir>/sluice.yaml:2:1)."],
    ["a list", "- port: 1\n", "The settings file <dir>/sluice.yaml does not name settings."],
    ["a reference to nowhere", "host: *there\n", "The setting host (<dir>/sluice.yaml:1:1) is null."],
  ])("%s is refused", (_, text, expected) => {
    expect(refusalOf(() => loadFile(text))).toContain(expected);
  });
});

describe("wrong values", () => {
  const wrongValues = [
    ["port", ["0", "70000", "abc", "1.5", "-1"], "a whole number from 1 to 65535"],
    ["database_connections", ["3", "1001"], "a whole number from 4 to 1000"],
    ["site_url", ["ftp://example.com", "https://a.b/?c=d", "https://a.b/#top", "a.b"], "an http or"],
    [
      "trusted_proxies",
      ["10.0.0.0/33", "::1/129", "10.0.0.0/8/8", "0.0.0.0/0", "::1, not-an-ip"],
      "a list of addresses",
    ],
    ["log_level", ["loud", "true"], "one of debug, info, warn, error."],
    ["currency", ["usd", "DOLLARS", "$"], "the three letters of a currency"],
    ["welcome_credit", ["-1", "1.5.0", "free", "two"], "an amount in the currency"],
    ["support_contact", ["the operator", "javascript:alert(1)"], "an e-mail address"],
    ["brand_name", ["x".repeat(41)], "a text of 1 to 40 characters"],
    ["brand_accent", ["purple", "6d28d9"], "a colour as"],
    ["terms_url", ["/terms", "javascript:alert(1)"], "an https, http or mailto address"],
    ["announcement_level", ["loud"], "one of info, warning, critical"],
    ["disabled_endpoints", ["listModels", "everything"], "a list of any of getModel, listPrices"],
    ["sandbox", ["maybe"], "one of on, off."],
  ] as const;

  test("a password in a wrong address is not repeated", () => {
    const refusal = refusalOf(() => loadEnvironment({ SLUICE_SITE_URL: "https://me:secret@a.b" }));
    expect(refusal).toContain("SLUICE_SITE_URL");
    expect(refusal).not.toContain("secret");
  });

  const rows = wrongValues.flatMap(([name, values, right]) => values.map((value) => [name, value, right]));

  test.each(rows)("%s: %s is refused, in the file and in the environment, with what is right", (name, value, right) => {
    const variable = `SLUICE_${name.toUpperCase()}`;
    const inEnvironment = refusalOf(() => loadEnvironment({ [variable]: value }));
    expect(inEnvironment).toContain(`The setting ${variable} is "${value}". Write ${right}`);
    const inFile = refusalOf(() => loadFile(`${name}: ${value}\n`)).replaceAll('"', "");
    expect(inFile).toContain(`The setting ${name} (<dir>/sluice.yaml:1:1) is ${value}. Write ${right}`);
  });

  const emptyOrOfAnotherType = ['host: ""', "host: '  '", "host:", "host: [a]", "port: [80]", "site_url: 5"];
  test.each(emptyOrOfAnotherType)("%s is refused", (line) => {
    expect(refusalOf(() => loadFile(line))).toMatch(/^The setting .* Write .*\.$/);
  });

  test("database_url may have several hosts, as libpq writes them", () => {
    const hosts = "postgres://user:hunter2@one:5432,[::1]:5433,three/db";
    for (const url of [hosts, `${hosts}?target_session_attrs=read-write`, `${hosts}?target_session_attrs=any`]) {
      expect(loadEnvironment({ DATABASE_URL: url }).database_url).toBe(url);
    }
    for (const url of [`${hosts}?target_session_attrs=standby`, "postgres://one,/db", "postgres://one:x,two/db"]) {
      const refusal = refusalOf(() => loadEnvironment({ DATABASE_URL: url }));
      expect(refusal).toContain("The setting DATABASE_URL is not such an address.");
      expect(refusal).not.toContain("hunter2");
    }
  });

  test("a wrong database_url is refused without being repeated, because it holds a password", () => {
    const wrong = "mysql://user:hunter2@db/x";
    for (const variable of ["DATABASE_URL", "SLUICE_DATABASE_URL", "REDIS_URL", "SLUICE_REDIS_URL"]) {
      const refusal = refusalOf(() => loadEnvironment({ [variable]: wrong }));
      expect(refusal).toContain(`The setting ${variable} is not such an address.`);
      expect(refusal).not.toContain("hunter2");
    }
    for (const line of [`database_url: ${wrong}`, `databse_url: ${wrong}`, `database_url: "${wrong}`]) {
      expect(refusalOf(() => loadFile(line))).not.toContain("hunter2");
    }
  });
});

describe("settings that follow from others", () => {
  test("site_url follows from the port, base_url from site_url, and both lose a slash at the end", () => {
    expect(loadFile("port: 5000").base_url).toBe("http://localhost:5000/v1");
    const settings = loadFile("site_url: HTTPS://AI.example.com:443/gateway//\n");
    expect(settings).toMatchObject({ site_url: "https://ai.example.com/gateway", port: 4242, sandbox: "off" });
    expect(settings.base_url).toBe("https://ai.example.com/gateway/v1");
    expect(loadFile("base_url: https://api.example.com/").base_url).toBe("https://api.example.com");
  });

  const switches = { on: "on", off: "off", true: "on", false: "off", '"off"': "off" };
  test.each(Object.entries(switches))("sandbox: %s switches it %s", (written, meant) => {
    expect(loadFile(`sandbox: ${written}\n`).sandbox).toBe(meant);
  });

  test("the sandbox cannot be switched on where site_url is public, and stays off there by itself", () => {
    const site = "site_url: https://ai.example.com\n";
    expect(loadFile(site).sandbox).toBe("off");
    expect(refusalOf(() => loadFile(`${site}sandbox: on\n`))).toContain("https://ai.example.com is not an address of");
    expect(refusalOf(() => loadFile(site, { SLUICE_SANDBOX: "on" }))).toContain("Write sandbox: off");
  });

  test("a certificate makes the site's address https, needs its key, and refuses an address that says http", () => {
    const files = "tls_cert_file: tls/site.crt\ntls_key_file: /etc/site.key\n";
    expect(loadFile(files)).toMatchObject({
      site_url: "https://localhost:4242",
      tls_cert_file: join(directory, "tls/site.crt"),
      tls_key_file: "/etc/site.key",
    });
    expect(refusalOf(() => loadFile("tls_cert_file: a"))).toContain("tls_cert_file is set, and tls_key_file is not;");
    expect(refusalOf(() => loadFile("tls_key_file: a"))).toContain("tls_key_file is set, and tls_cert_file is not;");
    expect(refusalOf(() => loadFile(`${files}site_url: http://a.example.com`))).toContain(
      "but its site_url, http://a.example.com, says http. Write site_url with https",
    );
  });

  const exposures = [
    "host: 0.0.0.0",
    'host: "::"',
    "host: 192.168.1.5",
    "host: gateway.lan",
    "trusted_proxies: [10.0.0.0/8]",
  ];
  test.each(exposures)("%s is refused while site_url is an address of this machine, with what to set", (line) => {
    for (const site of ["", "site_url: http://127.0.0.1:4242\n", "sandbox: off\n"]) {
      expect(refusalOf(() => loadFile(`${site}${line}\n`))).toMatch(
        /^Others could reach this gateway .* Set site_url to the address that people open/,
      );
    }
    expect(loadFile(`site_url: https://ai.example.com\n${line}\n`).sandbox).toBe("off");
  });

  test.each(["localhost", "127.0.0.1", "127.0.0.2", '"::1"'])("host: %s is no exposure", (host) => {
    expect(loadFile(`host: ${host}\n`).sandbox).toBe("on");
  });

  test("a relative data_dir is meant from the directory, an absolute one as it is", () => {
    expect(loadFile("data_dir: data/x").data_dir).toBe(join(directory, "data/x"));
    expect(loadFile("data_dir: /var/lib/sluice").data_dir).toBe("/var/lib/sluice");
  });

  test("trusted_proxies is a list, or text with commas", () => {
    const site = "site_url: https://ai.example.com\n";
    const networks = ["10.0.0.0/8", "::1"];
    expect(loadFile(`${site}trusted_proxies: [10.0.0.0/8, '::1']`).trusted_proxies).toEqual(networks);
    expect(loadFile(site, { SLUICE_TRUSTED_PROXIES: "10.0.0.0/8 , ::1," }).trusted_proxies).toEqual(networks);
  });
});

test.each(["localhost:4242", "LOCALHOST", "127.0.0.1", "127.8.9.10:80", "[::1]:4242"])("%s is this machine", (host) => {
  expect(isLoopbackUrl(`http://${host}`)).toBe(true);
});

const otherHosts = ["127.evil.com", "localhost.evil.com", "evil.com/localhost", "127.0.0.1.evil.com", "0.0.0.0"];
test.each(otherHosts)("%s only looks like this machine", (host) => {
  expect(isLoopbackUrl(`http://${host}`)).toBe(false);
});
