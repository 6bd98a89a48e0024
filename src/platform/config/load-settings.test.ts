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

/** The message and the remedy, with `<dir>` for the temporary directory. */
function getRejection(load: () => unknown): string {
  try {
    load();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return `${error.message} ${error.remedy}`.replaceAll(directory, "<dir>");
  }
  throw new Error("The settings were accepted.");
}

describe("where settings come from", () => {
  test("without a file and variables every setting has its default", () => {
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
      payment_webhook_secret: undefined,
      payment_amount_min: 5,
      payment_amount_max: 1000,
      payment_amounts: [10, 25, 50, 100],
      auto_top_ups_daily_max: 5,
      payment_methods: undefined,
      alarm_mails: [],
      alarm_slack_url: undefined,
      alarm_webhook_secret: undefined,
      alarm_webhook_url: undefined,
      new_account_daily_spend_max: "0",
      new_account_days: 7,
      sign_ups_per_domain_daily_max: 100,
      sign_ups_per_network_daily_max: 20,
      status_page: "on",
      tls_cert_file: undefined,
      tls_key_file: undefined,
    });
  });

  test("processes defaults to the cores minus one, minus two with the embedded database", () => {
    const count = (cores: number, environment: Record<string, string> = {}): number =>
      loadSettings({ environment, directory, cores }).processes;
    const external = { DATABASE_URL: "postgres://sluice@db.example.com/sluice" };
    expect([1, 2, 3, 4, 16].map((cores) => count(cores))).toEqual([1, 1, 1, 2, 14]);
    expect([1, 2, 3, 4, 16].map((cores) => count(cores, external))).toEqual([1, 1, 2, 3, 15]);
    expect(count(16, { SLUICE_PROCESSES: "2" })).toBe(2);
  });

  test("roles is a list of at least one known role", () => {
    expect(loadEnvironment({ SLUICE_ROLES: "worker" }).roles).toEqual(["worker"]);
    expect(loadFile("roles: [worker, http]\n").roles).toEqual(["http", "worker"]);
    const rejection = (text: string): string => getRejection(() => loadFile(text));
    expect(rejection("roles: []\n")).toContain("Write one or more of http, worker");
    expect(rejection("roles: [cook]\n")).toContain("Write one or more of http, worker");
  });

  test("with a public site_url, sign-up is closed by default and mails come from its host", () => {
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

  test("OpenTelemetry's variables set the endpoint, headers, service name and sampler", () => {
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
  ] as const)("%s rejects %s without printing secrets", ([variable, value]) => {
    const rejection = getRejection(() => loadEnvironment({ [variable]: value }));
    expect(rejection).toContain(`The setting ${variable} is`);
    expect(rejection).not.toContain("s3cret");
  });

  test("oidc accepts a YAML list of maps or the same as JSON", () => {
    const lines = Object.entries(provider).map(([name, value]) => `    ${name}: ${value}`);
    expect(loadFile(`oidc:\n  -\n${lines.join("\n")}\n`).oidc).toEqual([provider]);
    expect(loadEnvironment({ SLUICE_OIDC: JSON.stringify([provider]) }).oidc).toEqual([provider]);
  });

  test.each([
    ["no list", JSON.stringify(provider)],
    ["no JSON", "example"],
    ["a field missing", JSON.stringify([{ ...provider, client_id: undefined }])],
    ["a field too many", JSON.stringify([{ ...provider, scope: "x" }])],
    ["an id with a slash", JSON.stringify([{ ...provider, id: "a/b" }])],
    ["an issuer that is not encrypted", JSON.stringify([{ ...provider, issuer: "http://accounts.example.com" }])],
    ["two of one id", JSON.stringify([provider, provider])],
  ])("oidc with %s is rejected without printing secrets", (_name, text) => {
    const load = () => loadEnvironment({ SLUICE_OIDC: text.replace("${EXAMPLE_SECRET}", "hunter2") });
    expect(load).toThrow("The setting SLUICE_OIDC is not a valid list.");
  });

  test.each(["", "# nothing but a comment\n", "\n\n"])("a file without settings (%j) changes nothing", (text) => {
    expect(loadFile(text)).toEqual(loadEnvironment({}));
  });

  test("file and environment combine, and the environment takes precedence", () => {
    const settings = loadFile("port: 5000\nhost: 127.0.0.2\n", { SLUICE_PORT: "6000", SLUICE_LOG_LEVEL: "warn" });
    expect(settings).toMatchObject({ port: 6000, host: "127.0.0.2", log_level: "warn" });
  });

  test("an empty variable counts as absent", () => {
    const settings = loadFile("port: 5000\n", { SLUICE_PORT: "", SLUICE_SITE_URL: "", DATABASE_URL: "" });
    expect(settings).toMatchObject({ port: 5000, site_url: "http://localhost:5000", database_url: undefined });
  });

  test("DATABASE_URL is an alias, and SLUICE_DATABASE_URL takes precedence over it in any order", () => {
    const [alias, own] = [{ DATABASE_URL: "postgres://alias/db" }, { SLUICE_DATABASE_URL: "postgresql://own/db" }];
    expect(loadFile("database_url: postgres://file/db\n", alias).database_url).toBe("postgres://alias/db");
    expect(loadEnvironment({ ...alias, ...own }).database_url).toBe("postgresql://own/db");
    expect(loadEnvironment({ ...own, ...alias }).database_url).toBe("postgresql://own/db");
  });

  test("SLUICE_CONFIG replaces the default settings file", () => {
    writeFileSync(join(directory, "other.yaml"), "port: 7000\n");
    const settings = loadFile("host: 127.0.0.2\n", { SLUICE_CONFIG: "other.yaml" });
    expect(settings).toMatchObject({ port: 7000, host: "localhost" });
    expect(loadEnvironment({ SLUICE_CONFIG: join(directory, "other.yaml") }).port).toBe(7000);
  });

  test("an empty SLUICE_CONFIG counts as absent", () => {
    expect(loadFile("port: 7000\n", { SLUICE_CONFIG: "" }).port).toBe(7000);
  });

  test("SLUICE_CONFIG must point to a regular file", () => {
    const rejection = getRejection(() => loadEnvironment({ SLUICE_CONFIG: "." }));
    expect(rejection).toContain("Cannot read the settings file <dir>.");
  });

  test("SLUICE_CONFIG must point to an existing file", () => {
    const rejection = getRejection(() => loadEnvironment({ SLUICE_CONFIG: "gone.yaml" }));
    expect(rejection).toContain("The settings file <dir>/gone.yaml does not exist. Create it, or correct");
  });
});

describe("values from files", () => {
  const path = () => join(directory, "database-url");

  test("a variable with the suffix _FILE names the file that contains the value", () => {
    writeFileSync(path(), "postgres://own/db\n");
    for (const variable of ["SLUICE_DATABASE_URL_FILE", "DATABASE_URL_FILE"]) {
      expect(loadEnvironment({ [variable]: path() }).database_url).toBe("postgres://own/db");
    }
    expect(loadEnvironment({ DATABASE_URL_FILE: "" }).database_url).toBeUndefined();
  });

  test("a missing or wrong file, or both file and value, is rejected without printing the content", () => {
    writeFileSync(path(), "mysql://user:hunter2@db/x");
    const variables = { DATABASE_URL_FILE: path() };
    expect(getRejection(() => loadEnvironment(variables))).toBe(
      "The setting DATABASE_URL_FILE is not a valid address. Write an address such as postgres://user:password@host:5432/database.",
    );
    expect(getRejection(() => loadEnvironment({ ...variables, DATABASE_URL: "postgres://a/b" }))).toContain(
      "Both DATABASE_URL and DATABASE_URL_FILE are set.",
    );
    expect(getRejection(() => loadEnvironment({ SLUICE_SECRET_KEY_FILE: "/nowhere" }))).toContain(
      "Cannot read the file /nowhere of SLUICE_SECRET_KEY_FILE.",
    );
    expect(getRejection(() => loadEnvironment({ SLUICE_NOTHING_FILE: path() }))).toContain("Unknown setting");
  });
});

describe("unknown settings", () => {
  test.each([
    ["port: 1\nsiteurl: x\n", "Unknown setting: siteurl (<dir>/sluice.yaml:2:1). Did you mean site_url?"],
    ["  prot: 1\n", "Unknown setting: prot (<dir>/sluice.yaml:1:3). Did you mean port?"],
    ["something_else: 1\n", "Unknown setting: something_else (<dir>/sluice.yaml:1:1). Remove it; "],
    ["__proto__: { port: 1 }\n", "Unknown setting: __proto__ (<dir>/sluice.yaml:1:1). Remove it; "],
  ])("in the file, %j is rejected with its place and the nearest name", (text, expected) => {
    expect(getRejection(() => loadFile(text))).toContain(expected);
  });

  test("in the environment, only unknown names that begin with SLUICE_ are rejected", () => {
    const rejection = getRejection(() => loadEnvironment({ SLUICE_PROT: "1" }));
    expect(rejection).toBe("Unknown setting: SLUICE_PROT. Did you mean SLUICE_PORT?");
    expect(getRejection(() => loadEnvironment({ SLUICE_CONFIGG: "x" }))).toContain("Did you mean SLUICE_CONFIG?");
    expect(loadEnvironment({ PORT: "1", HOST: "example.com", port: "2" })).toEqual(loadEnvironment({}));
  });
});

describe("malformed settings files", () => {
  const notYaml = "The settings file is not valid YAML at";
  test.each([
    ["a bracket left open", "port: 1\nhost: [a\n", `${notYaml} <dir>/sluice.yaml:3:1.`],
    ["two colons", "port: 1\nhost: a: b\n", `${notYaml} <dir>/sluice.yaml:2:7.`],
    ["a setting written twice", "port: 1\nport: 2\n", "A setting is written twice (<dir>/sluice.yaml:2:1)."],
    ["a list", "- port: 1\n", "The settings file <dir>/sluice.yaml contains no settings."],
    ["a reference to nowhere", "host: *there\n", "The setting host (<dir>/sluice.yaml:1:1) is null."],
  ])("%s is rejected", (_, text, expected) => {
    expect(getRejection(() => loadFile(text))).toContain(expected);
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

  test("a password in a wrong address is not printed", () => {
    const rejection = getRejection(() => loadEnvironment({ SLUICE_SITE_URL: "https://me:secret@a.b" }));
    expect(rejection).toContain("SLUICE_SITE_URL");
    expect(rejection).not.toContain("secret");
  });

  const rows = wrongValues.flatMap(([name, values, right]) => values.map((value) => [name, value, right]));

  test.each(rows)(
    "%s: %s is rejected in the file and the environment, with the expected form",
    (name, value, right) => {
      const variable = `SLUICE_${name.toUpperCase()}`;
      const inEnvironment = getRejection(() => loadEnvironment({ [variable]: value }));
      expect(inEnvironment).toContain(`The setting ${variable} is "${value}". Write ${right}`);
      const inFile = getRejection(() => loadFile(`${name}: ${value}\n`)).replaceAll('"', "");
      expect(inFile).toContain(`The setting ${name} (<dir>/sluice.yaml:1:1) is ${value}. Write ${right}`);
    },
  );

  const emptyOrOfAnotherType = ['host: ""', "host: '  '", "host:", "host: [a]", "port: [80]", "site_url: 5"];
  test.each(emptyOrOfAnotherType)("%s is rejected", (line) => {
    expect(getRejection(() => loadFile(line))).toMatch(/^The setting .* Write .*\.$/);
  });

  test("database_url accepts several hosts in libpq's form", () => {
    const hosts = "postgres://user:hunter2@one:5432,[::1]:5433,three/db";
    for (const url of [hosts, `${hosts}?target_session_attrs=read-write`, `${hosts}?target_session_attrs=any`]) {
      expect(loadEnvironment({ DATABASE_URL: url }).database_url).toBe(url);
    }
    for (const url of [`${hosts}?target_session_attrs=standby`, "postgres://one,/db", "postgres://one:x,two/db"]) {
      const rejection = getRejection(() => loadEnvironment({ DATABASE_URL: url }));
      expect(rejection).toContain("The setting DATABASE_URL is not a valid address.");
      expect(rejection).not.toContain("hunter2");
    }
  });

  test("a wrong database_url is rejected without printing it", () => {
    const wrong = "mysql://user:hunter2@db/x";
    for (const variable of ["DATABASE_URL", "SLUICE_DATABASE_URL", "REDIS_URL", "SLUICE_REDIS_URL"]) {
      const rejection = getRejection(() => loadEnvironment({ [variable]: wrong }));
      expect(rejection).toContain(`The setting ${variable} is not a valid address.`);
      expect(rejection).not.toContain("hunter2");
    }
    for (const line of [`database_url: ${wrong}`, `databse_url: ${wrong}`, `database_url: "${wrong}`]) {
      expect(getRejection(() => loadFile(line))).not.toContain("hunter2");
    }
  });
});

describe("derived settings", () => {
  test("site_url derives from the port, base_url from site_url, and trailing slashes are removed", () => {
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

  test("with a public site_url the sandbox is off and cannot be switched on", () => {
    const site = "site_url: https://ai.example.com\n";
    expect(loadFile(site).sandbox).toBe("off");
    expect(getRejection(() => loadFile(`${site}sandbox: on\n`))).toContain(
      "https://ai.example.com, which is not a localhost address",
    );
    expect(getRejection(() => loadFile(site, { SLUICE_SANDBOX: "on" }))).toContain("Set sandbox to off");
  });

  test("a certificate changes the default site_url to https, needs its key and rejects an http site_url", () => {
    const files = "tls_cert_file: tls/site.crt\ntls_key_file: /etc/site.key\n";
    expect(loadFile(files)).toMatchObject({
      site_url: "https://localhost:4242",
      tls_cert_file: join(directory, "tls/site.crt"),
      tls_key_file: "/etc/site.key",
    });
    expect(getRejection(() => loadFile("tls_cert_file: a"))).toContain(
      "tls_cert_file is set, but tls_key_file is not.",
    );
    expect(getRejection(() => loadFile("tls_key_file: a"))).toContain("tls_key_file is set, but tls_cert_file is not.");
    expect(getRejection(() => loadFile(`${files}site_url: http://a.example.com`))).toContain(
      "but site_url is http://a.example.com. Change site_url to https",
    );
  });

  const exposures = [
    "host: 0.0.0.0",
    'host: "::"',
    "host: 192.168.1.5",
    "host: gateway.lan",
    "trusted_proxies: [10.0.0.0/8]",
  ];
  test.each(exposures)("%s is rejected with a localhost site_url, with the setting to change", (line) => {
    for (const site of ["", "site_url: http://127.0.0.1:4242\n", "sandbox: off\n"]) {
      expect(getRejection(() => loadFile(`${site}${line}\n`))).toMatch(
        /other machines can reach.* Set site_url to the public URL/,
      );
    }
    expect(loadFile(`site_url: https://ai.example.com\n${line}\n`).sandbox).toBe("off");
  });

  test.each(["localhost", "127.0.0.1", "127.0.0.2", '"::1"'])(
    "host: %s is allowed with a localhost site_url",
    (host) => {
      expect(loadFile(`host: ${host}\n`).sandbox).toBe("on");
    },
  );

  test("a relative data_dir is resolved against the working directory", () => {
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

test.each(["localhost:4242", "LOCALHOST", "127.0.0.1", "127.8.9.10:80", "[::1]:4242"])(
  "%s is a loopback host",
  (host) => {
    expect(isLoopbackUrl(`http://${host}`)).toBe(true);
  },
);

const otherHosts = ["127.evil.com", "localhost.evil.com", "evil.com/localhost", "127.0.0.1.evil.com", "0.0.0.0"];
test.each(otherHosts)("%s is not a loopback host", (host) => {
  expect(isLoopbackUrl(`http://${host}`)).toBe(false);
});
