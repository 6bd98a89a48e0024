import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import {
  listTexts,
  parseDockerfile,
  readExecForm,
  readPairs,
  type Stage,
} from "../../scripts/image/parse-dockerfile.ts";
import { loadSettings, type Settings } from "../../src/platform/config/load-settings.ts";
import { getEnvironmentName, settingNames } from "../../src/platform/config/settings-table.ts";
import { renderChart } from "../harness/deploy/render-chart.ts";
import { listRepositoryFiles, repositoryDir } from "../harness/repository-files.ts";
import { hasProxy } from "../harness/servers/pooling-proxy.ts";

const deployDir = join(repositoryDir, "deploy");
const manifest = JSON.parse(read("../package.json")) as { version: string; scripts: Record<string, string> };
const knownVariables = new Set([...settingNames.map(getEnvironmentName), "SLUICE_CONFIG"]);

function read(path: string): string {
  return readFileSync(join(deployDir, path), "utf8");
}

/** The settings that a gateway would load from these variables. Secret files get valid contents. */
function readSettings(variables: Readonly<Record<string, string>>): Settings {
  const contents: Record<string, string> = {
    SLUICE_DATABASE_URL: "postgres://sluice@postgres/sluice",
    SLUICE_REDIS_URL: "redis://valkey",
    SLUICE_SECRET_KEY: "x".repeat(64),
  };
  const environment = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      const bare = name.replace(/_FILE$/, "");
      const isFile = !knownVariables.has(name) && knownVariables.has(bare);
      return isFile ? [bare, contents[bare] ?? "content"] : [name, value];
    }),
  );
  return loadSettings({ environment, directory: tmpdir() });
}

/** The maximum stop time, as docs/operating/running.md describes it under "Rolling". */
function countStopSeconds({ shutdown_delay_ms: delayMs, shutdown_timeout_ms: timeoutMs }: Settings): number {
  return (2 * delayMs + timeoutMs) / 1000 + 5;
}

describe("the image", () => {
  const [build, image] = parseDockerfile(read("Dockerfile")) as [Stage, Stage];
  const variables = readPairs(listTexts(image, "ENV"));

  test("runs as its own user, writes to its volume only, stops on SIGTERM and needs no shell", () => {
    const runs = listTexts(image, "RUN").join(" ");
    const [user = ""] = listTexts(image, "USER");
    expect(user).toMatch(/^[1-9]\d+$/);
    expect(runs).toContain(`useradd --uid ${user}`);
    expect(listTexts(image, "STOPSIGNAL")).toEqual(["SIGTERM"]);
    expect(listTexts(image, "VOLUME")).toEqual([variables.SLUICE_DATA_DIR]);
    const entry = readExecForm(listTexts(image, "ENTRYPOINT")[0] ?? "") ?? [];
    // The same command as `npm start`, after tini.
    const [, started = ""] = /exec (node .*) serve$/.exec(manifest.scripts.start ?? "") ?? [];
    expect(entry.join(" ")).toBe(`tini -- node_modules/.bin/${started}`);
    expect(readExecForm(listTexts(image, "CMD")[0] ?? "")).toEqual(["serve"]);
  });

  test("has settings that exist, and a health check of the port that it exposes", () => {
    const settings = readSettings({ ...variables, SLUICE_SITE_URL: "https://ai.example.com" });
    expect(listTexts(image, "EXPOSE")).toEqual([String(settings.port)]);
    const [health = ""] = listTexts(image, "HEALTHCHECK");
    expect(readExecForm(health.replace(/^.* CMD /, ""))).toEqual(["node_modules/.bin/node", "deploy/healthcheck.mjs"]);
    expect(read("healthcheck.mjs")).toContain('path: "/healthz"');
    expect(read("healthcheck.mjs")).toContain(`process.env.SLUICE_PORT || "${settings.port}"`);
  });

  test("has every folder that the gateway reads, production packages only, and no apt lists", () => {
    const steps = listTexts(build, "RUN").join("\n");
    expect(steps).toContain("prune --omit=dev");
    const copied = [...steps.matchAll(/cp -a ([^&]+) \/out/g)].flatMap(([, paths = ""]) => paths.trim().split(" "));
    const made = ["node_modules", "dist/web"];
    expect(copied.filter((path) => !made.includes(path) && !existsSync(join(repositoryDir, path)))).toEqual([]);
    const read = listRepositoryFiles()
      .filter((path) => /^src\/.*(?<!\.test)\.ts$/.test(path))
      .flatMap((path) => [
        ...readFileSync(join(repositoryDir, path), "utf8").matchAll(/"(?:\.\.\/){2,}([a-z]+)(?:\/([^"/]*))?/g),
      ])
      .map(([, folder = "", next = ""]) => (folder === "dist" || folder === "packages" ? `${folder}/${next}` : folder))
      .filter((path) => existsSync(join(repositoryDir, path)) || made.includes(path));
    expect(new Set(read)).toEqual(new Set(["migrations", "assets", "catalogs", "packages/sandbox", "dist/web"]));
    expect(copied).toEqual(expect.arrayContaining(["src", "package.json", ...read]));
    expect(listTexts(image, "RUN").join()).toMatch(/--no-install-recommends .* rm -rf \/var\/lib\/apt\/lists/);
  });

  test("has versioned bases and labels, and excludes secrets and build leftovers", () => {
    for (const { base } of [build, image]) expect(base).toMatch(/^[a-z]+:(?!latest)[\w.-]+$/);
    expect(readPairs(listTexts(image, "LABEL"))).toMatchObject({
      "org.opencontainers.image.title": "Sluice",
      "org.opencontainers.image.licenses": "MIT",
    });
    const ignored = read("../.dockerignore").split("\n");
    expect(ignored).toEqual(
      expect.arrayContaining([".git", "node_modules", "sluice.yaml", "deploy/secrets", ".sluice*"]),
    );
  });
});

type Service = {
  image: string;
  environment?: Record<string, string>;
  secrets?: string[];
  volumes?: string[];
  ports?: string[];
  command?: string[];
  healthcheck?: { test: string[] };
  stop_grace_period?: string;
};

describe("the compose file", () => {
  const compose = parse(read("compose.yaml"), { merge: true }) as {
    services: Record<string, Service>;
    secrets: Record<string, { file: string }>;
  };
  const gateways = Object.entries(compose.services).filter(([name]) => name.startsWith("gateway-"));

  test("starts two gateways with existing settings and enough time to stop", () => {
    expect(gateways).toHaveLength(2);
    for (const [, { environment = {}, stop_grace_period: grace = "" }] of gateways) {
      expect(environment.SLUICE_SITE_URL).toMatch(/^\$\{SITE_URL:\?/);
      const settings = readSettings({
        ...environment,
        SLUICE_HOST: "0.0.0.0",
        SLUICE_SITE_URL: "https://ai.example.com",
      });
      expect(Number(grace.replace(/s$/, ""))).toBeGreaterThanOrEqual(countStopSeconds(settings));
      expect(settings).toMatchObject({
        redis_url: "redis://valkey:6379",
        s3_bucket: "sluice-files",
        s3_path_style: "on",
      });
    }
  });

  test("has health checks for every long-running service, versioned images and existing mounts", () => {
    for (const [name, { image, healthcheck, volumes = [] }] of Object.entries(compose.services)) {
      const isOurs = image.startsWith("sluice:");
      expect(isOurs || healthcheck !== undefined, name).toBe(true);
      expect(isOurs || /:(?!latest)[\w.-]*\d[\w.-]*$/.test(image), image).toBe(true);
      const paths = volumes.map((volume) => volume.split(":")[0] ?? "").filter((path) => path.startsWith("."));
      expect(paths.filter((path) => !existsSync(join(deployDir, path)))).toEqual([]);
    }
  });

  test("creates its secrets once by one script, and passes none in a variable", () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-secrets-"));
    cpSync(join(deployDir, "make-secrets.sh"), join(folder, "make-secrets.sh"));
    const make = () => {
      execFileSync("sh", [join(folder, "make-secrets.sh")]);
      const names = readdirSync(join(folder, "secrets")).toSorted();
      return names.map((name) => [name, readFileSync(join(folder, "secrets", name), "utf8")] as const);
    };
    const made = make();
    expect(make()).toEqual(made);
    rmSync(folder, { recursive: true });
    const {
      secret_key: secretKey = "",
      database_url: url = "",
      postgres_password: password,
    } = Object.fromEntries(made);
    expect(url).toBe(`postgres://sluice:${password}@postgres:5432/sluice`);
    expect(secretKey).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(compose.secrets).toSorted()).toEqual(made.map(([name]) => name));
    for (const [name, { file }] of Object.entries(compose.secrets)) expect(file).toBe(`./secrets/${name}`);
    for (const { environment = {}, secrets = [] } of Object.values(compose.services)) {
      const named = Object.values(environment).flatMap((value) => /^\/run\/secrets\/(.*)$/.exec(value)?.[1] ?? []);
      expect(secrets).toEqual(expect.arrayContaining(named));
    }
  });

  test("configures HAProxy and Prometheus with both gateways and their ports", () => {
    const config = read("haproxy.cfg");
    const { SLUICE_PORT: port } = readPairs(listTexts(parseDockerfile(read("Dockerfile")).at(-1) as Stage, "ENV"));
    const servers = [...config.matchAll(/^ {2}server \S+ (\S+)$/gm)].map(([, address]) => address);
    expect(servers).toEqual(gateways.map(([name]) => `${name}:${port}`));
    const [, bound] = /^ {2}bind :(\d+)$/m.exec(config) ?? [];
    expect(compose.services.haproxy?.ports).toEqual([`${bound}:${bound}`]);
    expect(config).toContain("option httpchk GET /readyz");
    const { scrape_configs: jobs } = parse(read("prometheus/prometheus.yaml"));
    const targets = jobs.flatMap((job: { static_configs: { targets: string[] }[] }) => job.static_configs[0]?.targets);
    const metrics = gateways.map(([name, { environment = {} }]) => `${name}:${environment.SLUICE_METRICS_PORT}`);
    expect(targets).toEqual(metrics);
    expect(jobs).toMatchObject([{ job_name: "sluice" }]);
  });

  test.runIf(hasProxy)("has a configuration that HAProxy accepts", () => {
    expect(() => execFileSync("/usr/sbin/haproxy", ["-c", "-q", "-f", join(deployDir, "haproxy.cfg")])).not.toThrow();
  });
});

type Container = {
  args: string[];
  env: { name: string; value: string }[];
  ports: { name: string; containerPort: number }[];
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
} & Record<"startupProbe" | "livenessProbe" | "readinessProbe", { httpGet: object }>;

type PodTemplate = {
  metadata: { labels: Record<string, string> };
  spec: {
    containers: [Container];
    volumes: { name: string }[];
    securityContext: object;
    terminationGracePeriodSeconds: number;
  };
};

describe("the chart", () => {
  const chartDir = join(deployDir, "helm/sluice");
  const render = (values: Record<string, unknown> = {}) => {
    const settings = { site_url: "https://ai.example.com", ...(values.settings as object) };
    const manifests = renderChart(chartDir, { ...values, settings });
    const find = (kind: string) => manifests.find((each) => each.kind === kind);
    const { template } = (find("Deployment") as unknown as { spec: { template: PodTemplate } }).spec;
    return { manifests, find, template, container: template.spec.containers[0] };
  };
  const readEnvironment = ({ env }: Container) => Object.fromEntries(env.map(({ name, value }) => [name, value]));

  test("has this version, and rejects a missing site_url", () => {
    expect(parse(read("helm/sluice/Chart.yaml"))).toMatchObject({
      appVersion: manifest.version,
      version: manifest.version,
    });
    expect(() => renderChart(chartDir, {})).toThrow("Set settings.site_url to the address that people open.");
  });

  test.each([
    ["as it comes", {}, {}],
    [
      "with lists, numbers and switches",
      { settings: { trusted_proxies: ["10.0.0.0/8", "::1"], upload_bytes_max: 104857600, s3_path_style: true } },
      { trusted_proxies: ["10.0.0.0/8", "::1"], upload_bytes_max: 104857600, s3_path_style: "on" },
    ],
    [
      "with a certificate",
      { tls: { secretName: "web" } },
      { tls_cert_file: "/run/secrets/tls/tls.crt", tls_key_file: "/run/secrets/tls/tls.key" },
    ],
    [
      "with slower stops",
      { settings: { shutdown_delay_ms: 15_000, shutdown_timeout_ms: 120_000 } },
      { shutdown_delay_ms: 15_000 },
    ],
  ])("%s, passes settings that the gateway accepts, and grants enough time to stop", (_name, values, expected) => {
    const { template, container, find } = render(values);
    const settings = readSettings(readEnvironment(container));
    expect(settings).toMatchObject({
      ...expected,
      host: "0.0.0.0",
      database_url: "postgres://sluice@postgres/sluice",
    });
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(countStopSeconds(settings));
    expect(container.ports).toContainEqual({ name: "http", containerPort: settings.port });
    const scheme = settings.tls_cert_file === undefined ? "HTTP" : "HTTPS";
    const probe = (path: string) => ({ httpGet: { path, port: "http", scheme } });
    expect(container).toMatchObject({
      args: ["serve"],
      startupProbe: probe("/healthz"),
      livenessProbe: probe("/healthz"),
      readinessProbe: probe("/readyz"),
    });
    expect(find("Service")).toHaveProperty("spec.ports.0.appProtocol", scheme.toLowerCase());
    expect(find("Service")).toHaveProperty("spec.ports.0.targetPort", "http");
    const mounted = container.volumeMounts.map(({ name }) => name);
    expect(template.spec.volumes.map(({ name }) => name)).toEqual(mounted);
  });

  test("runs nothing as root, grants no capabilities, and writes to its volumes only", () => {
    const { manifests } = render();
    const templates = manifests.flatMap(({ spec }) => (spec as { template?: PodTemplate }).template ?? []);
    expect(templates).toHaveLength(2);
    for (const { spec } of templates) {
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 10001,
        seccompProfile: { type: "RuntimeDefault" },
      });
      expect(spec.containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(spec).toMatchObject({ automountServiceAccountToken: false });
      expect(spec.containers[0].volumeMounts.map(({ mountPath }) => mountPath)).toEqual([
        "/var/lib/sluice",
        "/tmp",
        "/run/secrets/sluice",
      ]);
    }
  });

  test("scales, spreads and interrupts the pods that its service finds, and no others", () => {
    const { find, template, manifests } = render({ ingress: { enabled: true } });
    const selector = {
      "app.kubernetes.io/name": "sluice",
      "app.kubernetes.io/instance": "sluice",
      "app.kubernetes.io/component": "gateway",
    };
    expect(template.metadata.labels).toMatchObject(selector);
    expect(find("Service")?.spec).toMatchObject({ selector });
    expect(find("PodDisruptionBudget")?.spec).toMatchObject({ maxUnavailable: 1, selector: { matchLabels: selector } });
    expect(find("Deployment")?.spec).not.toHaveProperty("replicas");
    expect(find("HorizontalPodAutoscaler")?.spec).toMatchObject({
      scaleTargetRef: { kind: "Deployment", name: "sluice" },
      minReplicas: 2,
    });
    expect(JSON.stringify(find("Ingress")?.spec)).toContain('"service":{"name":"sluice","port":{"name":"http"}}');
    const job = manifests.find(({ kind }) => kind === "Job");
    expect(job?.metadata.annotations).toMatchObject({ "helm.sh/hook": "pre-install,pre-upgrade" });
    expect(job?.spec).toMatchObject({
      template: {
        metadata: { labels: { "app.kubernetes.io/component": "migration" } },
        spec: { containers: [{ args: ["migrate"] }] },
      },
    });
    const fixed = render({ autoscaling: { enabled: false }, migration: { enabled: false } });
    expect(fixed.find("Deployment")?.spec).toMatchObject({ replicas: 2 });
    expect(fixed.manifests.map(({ kind }) => kind).toSorted()).toEqual([
      "Deployment",
      "PodDisruptionBudget",
      "Service",
    ]);
  });

  test("serves metrics on a separate port, or not at all", () => {
    const { container, find } = render({ metrics: { serviceMonitor: { enabled: true } } });
    const { metrics_port: port, metrics_host: host } = readSettings(readEnvironment(container));
    expect(host).toBe("0.0.0.0");
    expect(container.ports).toContainEqual({ name: "metrics", containerPort: port });
    expect(find("Service")?.spec).toMatchObject({
      ports: [{ name: "http" }, { name: "metrics", targetPort: "metrics" }],
    });
    expect(find("ServiceMonitor")?.spec).toMatchObject({ endpoints: [{ port: "metrics", path: "/metrics" }] });
    const without = render({ metrics: { enabled: false } });
    expect(without.container.ports).toHaveLength(1);
    expect(readEnvironment(without.container)).not.toHaveProperty("SLUICE_METRICS_PORT");
  });

  test("mounts keys of upstreams as files, which may change while a pod runs", () => {
    const environment = readEnvironment(render({ secret: { variables: ["OPENAI_KEY"] } }).container);
    expect(environment.OPENAI_KEY_FILE).toBe("/run/secrets/sluice/OPENAI_KEY");
  });
});

test("sluicectl runs a command as the unit's user, with the unit's settings and environment file", () => {
  const unit = read("sluice.service");
  const value = (name: string) => new RegExp(`\\b${name}=(\\S+)`).exec(unit)?.[1] ?? "";
  const folder = mkdtempSync(join(tmpdir(), "sluice-ctl-"));
  const script = read("sluicectl").replaceAll("/etc/sluice", folder).replace('"$(id -u)"', "0");
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "runuser"), '#!/bin/sh\necho "$@"\nenv\n', { mode: 0o755 });
  writeFileSync(join(folder, "environment"), "OPENAI_KEY=sk-1\n");
  writeFileSync(join(folder, "sluicectl"), script);
  const env = { PATH: `${bin}:${process.env.PATH}` };
  const lines = execFileSync("sh", [join(folder, "sluicectl"), "catalog", "check", "a file"], { env })
    .toString()
    .split("\n");
  rmSync(folder, { recursive: true });
  const started = `${value("WorkingDirectory")}/node_modules/.bin/node --min-semi-space-size=16 ${value("WorkingDirectory")}/dist/server/main.js`;
  expect(lines[0]).toBe(`-u ${value("User")} -- ${started} catalog check a file`);
  expect(lines).toEqual(
    expect.arrayContaining([
      "OPENAI_KEY=sk-1",
      `SLUICE_CONFIG=${value("SLUICE_CONFIG").replace("/etc/sluice", folder)}`,
      `SLUICE_DATA_DIR=${value("SLUICE_DATA_DIR")}`,
    ]),
  );
});

test("the systemd unit starts what npm start does, with existing settings and enough time to stop", () => {
  const unit = read("sluice.service");
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  const [, started = ""] = /exec (node .*)$/.exec(manifest.scripts.start ?? "") ?? [];
  expect(value("ExecStart")).toBe(`/opt/sluice/node_modules/.bin/${started}`);
  const variables = [...unit.matchAll(/(SLUICE_\w+)=(\S+)/g)].map(([, name = "", text = ""]) => [name, text] as const);
  expect(variables.filter(([name]) => !knownVariables.has(name))).toEqual([]);
  const folder = mkdtempSync(join(tmpdir(), "sluice-unit-"));
  writeFileSync(join(folder, "sluice.yaml"), "");
  const settings = loadSettings({
    environment: { ...Object.fromEntries(variables), SLUICE_CONFIG: "sluice.yaml" },
    directory: folder,
  });
  rmSync(folder, { recursive: true });
  expect(Number(value("TimeoutStopSec"))).toBeGreaterThanOrEqual(countStopSeconds(settings));
  expect(settings.data_dir).toBe(`/var/lib/${value("StateDirectory")}`);
  expect(unit).toMatch(/^NoNewPrivileges=yes$/m);
  expect(unit).toMatch(/^ProtectSystem=strict$/m);
});
