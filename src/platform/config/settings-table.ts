import { previewEndpoints } from "../http/endpoint-table.ts";
import { samplerNames } from "../tracing/create-sampler.ts";
import {
  amount,
  colour,
  contact,
  currencyCode,
  databaseAddress,
  file,
  folder,
  headerList,
  line,
  linkTarget,
  mailServerAddress,
  networks,
  oneOf,
  oneOrMoreOf,
  redisAddress,
  type SettingKind,
  share,
  signInProviders,
  someOf,
  text,
  webAddress,
  wholeNumber,
} from "./setting-kinds.ts";

/**
 * Every setting: how it is read, what it is without being set, and what the docs say. The example file, the docs page
 * and the loader are all made from this table. A setting `site_url` is `SLUICE_SITE_URL` in the environment.
 */
export type SettingEntry<T> = {
  kind: SettingKind<T>;
  /** `undefined` where the value follows from other settings, or may stay absent. */
  standard: T | undefined;
  /** Says what holds when nothing is written, where `standard` does not say it. */
  otherwise?: string;
  example: string;
  /** A second name in the environment that other tools use too. */
  alias?: string;
  explains: string;
};

const megabyte = 1024 * 1024;

export const settingsTable = {
  site_url: {
    kind: webAddress(),
    standard: undefined,
    otherwise: "http://localhost:<port>",
    example: "https://ai.example.com",
    explains: "The address under which people reach the web site.",
  },
  base_url: {
    kind: webAddress(),
    standard: undefined,
    otherwise: "<site_url>/v1",
    example: "https://ai.example.com/v1",
    explains: "The address of the API as clients write it.",
  },
  host: {
    kind: text("a host name or address to listen on, such as 0.0.0.0"),
    standard: "localhost",
    example: "0.0.0.0",
    explains:
      "The address to listen on. `localhost` is reachable from this machine only; `0.0.0.0` from everywhere, and then site_url must not be an address of this machine.",
  },
  port: {
    kind: wholeNumber({ min: 1, max: 65_535 }),
    standard: 4242,
    example: "4242",
    explains: "The port to listen on.",
  },
  tls_cert_file: {
    kind: file("the path of a file in PEM form: the certificate, and after it those that it depends on"),
    standard: undefined,
    otherwise: "the gateway speaks HTTP, and TLS is a proxy's",
    example: "/etc/sluice/tls.crt",
    explains:
      "The certificate with which the gateway itself speaks HTTPS (TLS 1.2 and later); site_url begins with https then. The file is read again while the gateway runs: a new certificate is in use within two seconds, without a restart.",
  },
  tls_key_file: {
    kind: file("the path of a file in PEM form, without a passphrase"),
    standard: undefined,
    otherwise: "the gateway speaks HTTP, and TLS is a proxy's",
    example: "/etc/sluice/tls.key",
    explains: "The private key that belongs to tls_cert_file.",
  },
  metrics_port: {
    kind: wholeNumber({ min: 1, max: 65_535 }),
    standard: undefined,
    otherwise: "metrics are not served",
    example: "9464",
    explains:
      "The port of `/metrics` for Prometheus (docs/operating/observing.md). It asks for no key: only those who watch the gateway may reach it.",
  },
  metrics_host: {
    kind: text("a host name or address to listen on, such as 127.0.0.1"),
    standard: "127.0.0.1",
    example: "10.0.0.5",
    explains: "The address to serve metrics on, never that of the public.",
  },
  data_dir: {
    kind: folder(),
    standard: ".sluice",
    example: "/var/lib/sluice",
    explains: "The folder for the embedded database and for everything else that must survive a restart.",
  },
  packages_dir: {
    kind: folder(),
    standard: undefined,
    otherwise: "packages inside data_dir",
    example: "/opt/sluice-packages",
    explains:
      "The folder with the packages of providers of the kind ai-sdk, which `upstream install` writes. Set it where packages are part of an image.",
  },
  database_url: {
    kind: databaseAddress(),
    standard: undefined,
    otherwise: "a PostgreSQL of its own, inside data_dir",
    example: "postgres://sluice:secret@db.example.com:5432/sluice",
    alias: "DATABASE_URL",
    explains:
      "An external PostgreSQL (15 or later) in place of the embedded one. Several hosts with commas between them are a primary and its standbys: the one that takes writes is used (docs/operating/running.md, High availability).",
  },
  database_connections: {
    kind: wholeNumber({ min: 4, max: 1000 }),
    standard: 12,
    example: "12",
    explains:
      "How many connections to the database each process opens at the most: one to hear of changes, one for payments, the others for everything else.",
  },
  database_start_timeout_ms: {
    kind: wholeNumber({ min: 0, max: 3_600_000 }),
    standard: 60_000,
    example: "60000",
    explains: "How long a gateway that starts waits for an external database that is away.",
  },
  sandbox: {
    kind: oneOf(["on", "off"]),
    standard: undefined,
    otherwise: "on while site_url is an address of this machine, else off",
    example: "off",
    explains: "Conveniences for trying things out, such as a demo account. Refused where site_url is public.",
  },
  redis_url: {
    kind: redisAddress(),
    standard: undefined,
    otherwise: "each gateway counts for itself, its processes together",
    example: "redis://cache.example.com:6379",
    alias: "REDIS_URL",
    explains: "A Redis or Valkey in which several gateways count requests together, so that a limit is the limit.",
  },
  unshared_nodes: {
    kind: oneOf(["refuse", "allow"]),
    standard: "refuse",
    example: "allow",
    explains:
      "What follows at the start where another gateway uses the same external database, and the two count limits or keep files apart: `refuse` says what to set and does not start, `allow` starts with a warning.",
  },
  currency: {
    kind: currencyCode(),
    standard: "USD",
    example: "EUR",
    explains: "The currency of all prices and balances. Choose it before the first charge.",
  },
  secret_key: {
    kind: text("at least 32 random characters"),
    standard: undefined,
    otherwise: "made on the first start and kept in data_dir",
    example: "a-long-text-of-random-characters-that-nobody-else-knows",
    explains:
      "What links to files are signed and secrets in the database are sealed with. The same on every node; whoever loses it loses the secrets of all webhooks.",
  },
  sign_up: {
    kind: oneOf(["open", "invite", "closed"]),
    standard: undefined,
    otherwise: "open while site_url is an address of this machine, else closed",
    example: "invite",
    explains:
      "Who may open an account on the site: everybody, whoever has an invitation (`user invite`), or nobody but you.",
  },
  welcome_credit: {
    kind: amount(),
    standard: undefined,
    otherwise: "5 while the sandbox is on, else 0",
    example: "2.50",
    explains:
      "The credit that an account begins with whose owner signed up on the site and has proven an e-mail address; 0 gives none. Accounts that you create get what you give them.",
  },
  welcome_credit_days: {
    kind: wholeNumber({ min: 1, max: 3650 }),
    standard: 30,
    example: "30",
    explains: "How long the welcome credit can be spent.",
  },
  welcome_credits_daily_max: {
    kind: wholeNumber({ min: 0, max: 1_000_000 }),
    standard: 100,
    example: "100",
    explains:
      "How many accounts get the welcome credit within 24 hours, and of them ten from one network; the others begin without. It bounds what somebody with many mailboxes can cost you.",
  },
  support_contact: {
    kind: contact(),
    standard: undefined,
    otherwise: 'people are told to ask "the operator"',
    example: "help@example.com",
    explains: "Whom people are told to ask for credit, and for help: linked on every page, named at the end of mails.",
  },
  smtp_url: {
    kind: mailServerAddress(),
    standard: undefined,
    otherwise:
      "mails are shown in the terminal and, while site_url is an address of this machine, on /outbox, whose link the start shows",
    example: "smtp://sluice:secret@mail.example.com:587",
    explains: "The server that sends the site's mails.",
  },
  mail_from: {
    kind: text("an address such as Sluice <no-reply@example.com>"),
    standard: undefined,
    otherwise: "<brand_name> <no-reply@host of site_url>",
    example: "Sluice <no-reply@example.com>",
    explains: "Whom the site's mails are from.",
  },
  brand_name: {
    kind: line(40),
    standard: "Sluice",
    example: "Example AI",
    explains:
      "What the service is called, on every page, in mails and in authenticator apps (docs/operating/branding.md).",
  },
  brand_logo_file: {
    kind: file("the path of an image: .svg, .png or .jpg, at most 256 kB"),
    standard: undefined,
    otherwise: "our mark",
    example: "/etc/sluice/logo.svg",
    explains: "The image beside the name, as high as it is wide, and the icon of the browser's tab.",
  },
  brand_accent: {
    kind: colour(),
    standard: undefined,
    otherwise: "our own",
    example: "'#6d28d9'",
    explains:
      "The colour of links and buttons. One in which words could not be read is refused, with the nearest that can be.",
  },
  brand_accent_dark: {
    kind: colour(),
    standard: undefined,
    otherwise: "brand_accent, as much lighter as it takes",
    example: "'#b794f6'",
    explains: "The same in the dark theme.",
  },
  terms_url: {
    kind: linkTarget(),
    standard: undefined,
    otherwise: "no link",
    example: "https://example.com/terms",
    explains: "The terms of service. Who signs up is told that they agree to them.",
  },
  privacy_url: {
    kind: linkTarget(),
    standard: undefined,
    otherwise: "no link",
    example: "https://example.com/privacy",
    explains: "The privacy policy, linked on every page and at sign-up.",
  },
  status_url: {
    kind: linkTarget(),
    standard: undefined,
    otherwise: "no link",
    example: "https://status.example.com/",
    explains: "The page that says how the service is, linked on every page.",
  },
  announcement: {
    kind: line(300),
    standard: undefined,
    otherwise: "nothing",
    example: "Maintenance on Sunday from 02:00 to 03:00 UTC.",
    explains:
      "What everybody is told at the top of every page, until they dismiss it. Another text is shown to all again.",
  },
  announcement_level: {
    kind: oneOf(["info", "warning", "critical"]),
    standard: "info",
    example: "warning",
    explains: "How urgent the announcement looks.",
  },
  announcement_url: {
    kind: linkTarget(),
    standard: undefined,
    otherwise: "no link",
    example: "https://status.example.com/",
    explains: "Where the announcement leads to.",
  },
  oidc: {
    kind: signInProviders(),
    standard: [],
    example:
      "[{id: example, name: Example, issuer: 'https://accounts.example.com', client_id: sluice, client_secret: '${EXAMPLE_SECRET}'}]",
    explains:
      "Services with which people can sign in by OpenID Connect. A `client_secret` of the form ${NAME} is read from the environment.",
  },
  stripe_secret_key: {
    kind: text("a secret key of Stripe, or the variable that has it, such as ${STRIPE_SECRET_KEY}"),
    standard: undefined,
    otherwise: "nobody can pay by card",
    example: "'${STRIPE_SECRET_KEY}'",
    explains:
      "The key with which payments by card are asked for. One of the form ${NAME} is read from the environment.",
  },
  stripe_webhook_secret: {
    kind: text("the signing secret of a webhook of Stripe's, or the variable that has it"),
    standard: undefined,
    otherwise: "nobody can pay by card",
    example: "'${STRIPE_WEBHOOK_SECRET}'",
    explains:
      "What Stripe signs with when it tells `<site_url>/payments/stripe` of payments. It belongs to stripe_secret_key.",
  },
  payment_amount_min: {
    kind: wholeNumber({ min: 1, max: 10_000_000 }),
    standard: 5,
    example: "5",
    explains: "The least that somebody can pay at a time, in the currency.",
  },
  payment_amount_max: {
    kind: wholeNumber({ min: 1, max: 10_000_000 }),
    standard: 1000,
    example: "1000",
    explains: "The most that somebody can pay at a time, in the currency.",
  },
  disabled_endpoints: {
    kind: someOf(previewEndpoints),
    standard: [],
    example: "[listPrices]",
    explains: "Preview endpoints that answer 501, as if they were not released.",
  },
  idempotency_hours: {
    kind: wholeNumber({ min: 1, max: 720 }),
    standard: 24,
    example: "24",
    explains:
      "How long an Idempotency-Key is remembered: the same request with it is answered again, and not done again.",
  },
  stream_heartbeat_ms: {
    kind: wholeNumber({ min: 10, max: 600_000 }),
    standard: 15_000,
    example: "15000",
    explains: "After how much silence a stream says that it is still alive, so that no proxy takes it for dead.",
  },
  event_streams_max: {
    kind: wholeNumber({ min: 1, max: 100_000 }),
    standard: 100,
    example: "100",
    explains:
      "How many streams of events an API key may have open at a time: of tasks, webhook sessions and background responses. One more is a 429.",
  },
  processes: {
    kind: wholeNumber({ min: 1, max: 256 }),
    standard: undefined,
    otherwise: "one fewer than the machine has cores, two fewer with the embedded database, and at least 1",
    example: "4",
    explains:
      "How many processes serve together on one port (docs/operating/scaling.md). With more than one, a supervisor starts, restarts and rolls them, and counts limits for all of them.",
  },
  roles: {
    kind: oneOrMoreOf(["http", "worker"]),
    standard: ["http", "worker"],
    example: "[http]",
    explains:
      "What this gateway does: `http` answers requests, `worker` takes tasks further and delivers webhooks. Without `http` it answers `/healthz` and `/readyz` alone.",
  },
  worker_steps_max: {
    kind: wholeNumber({ min: 1, max: 10_000 }),
    standard: 256,
    example: "256",
    explains: "How many tasks each process takes a step further at a time.",
  },
  trusted_proxies: {
    kind: networks(),
    standard: [],
    example: "[10.0.0.0/8]",
    explains: "The proxies whose X-Forwarded-For header counts.",
  },
  log_level: {
    kind: oneOf(["debug", "info", "warn", "error"]),
    standard: "info",
    example: "info",
    explains: "The least severe log line to write. `warn` leaves out the line for each request that went well.",
  },
  log_format: {
    kind: oneOf(["auto", "json", "pretty"]),
    standard: "auto",
    example: "json",
    explains: "`auto` is pretty on a terminal and JSON everywhere else.",
  },
  otlp_endpoint: {
    kind: webAddress(),
    standard: undefined,
    otherwise: "no collector is told of anything",
    example: "http://collector.example.com:4318",
    alias: "OTEL_EXPORTER_OTLP_ENDPOINT",
    explains:
      "An OpenTelemetry collector, up to where `/v1/traces` and `/v1/metrics` follow, that takes OTLP by HTTP. Traces (docs/operating/tracing.md) and metrics (docs/operating/observing.md) go there.",
  },
  otlp_headers: {
    kind: headerList(),
    standard: undefined,
    otherwise: "none",
    example: "'authorization=${COLLECTOR_AUTHORIZATION}'",
    alias: "OTEL_EXPORTER_OTLP_HEADERS",
    explains:
      "Headers that the collector wants, as `name=value` with commas between them; a value may be encoded as in a URL, and one of the form ${NAME} is read from the environment.",
  },
  otel_service_name: {
    kind: text("a name such as sluice"),
    standard: "sluice",
    example: "sluice-eu",
    alias: "OTEL_SERVICE_NAME",
    explains: "What this gateway is called in traces and in metrics that are sent to a collector.",
  },
  otlp_metrics_interval_ms: {
    kind: wholeNumber({ min: 0, max: 3_600_000 }),
    standard: 60_000,
    example: "15000",
    alias: "OTEL_METRIC_EXPORT_INTERVAL",
    explains:
      "How often the collector is told all metrics, those of `/metrics`. 0 sends none: for a collector that takes only traces, or that scrapes.",
  },
  traces_sampler: {
    kind: oneOf(samplerNames),
    standard: "parentbased_always_on",
    example: "parentbased_traceidratio",
    alias: "OTEL_TRACES_SAMPLER",
    explains:
      "Which requests are traced. With `parentbased_…` a request with a `traceparent` is a part of its caller's trace, and traced if the caller says so; else it begins a trace of its own, with a link to the caller's.",
  },
  traces_sampler_arg: {
    kind: share(),
    standard: 1,
    example: "0.05",
    alias: "OTEL_TRACES_SAMPLER_ARG",
    explains: "The share of requests that a sampler with `traceidratio` traces, from 0 to 1.",
  },
  traces_callers_per_second_max: {
    kind: wholeNumber({ min: 0, max: 1_000_000 }),
    standard: 10,
    example: "10",
    explains:
      "How many requests a second each process traces because their callers say so. Beyond that they are sampled like all others.",
  },
  traces_delay_ms: {
    kind: wholeNumber({ min: 10, max: 600_000 }),
    standard: 2000,
    example: "2000",
    alias: "OTEL_BSP_SCHEDULE_DELAY",
    explains: "How long spans wait for others before they are sent to the collector together.",
  },
  json_body_bytes_max: {
    kind: wholeNumber({ min: 1024, max: 256 * megabyte }),
    standard: 20 * megabyte,
    example: String(20 * megabyte),
    explains: "The largest JSON body accepted.",
  },
  json_structure_max: {
    kind: wholeNumber({ min: 1000, max: 10_000_000 }),
    standard: 80_000,
    example: "80000",
    explains:
      "How many `{`, `[`, `:` and `,` a JSON body may have outside of its strings. Nobody else is served while they are parsed, up to a millisecond for each thousand.",
  },
  header_bytes_max: {
    kind: wholeNumber({ min: 4096, max: megabyte }),
    standard: 16 * 1024,
    example: String(16 * 1024),
    explains: "How large the address and headers of a request may be together.",
  },
  header_timeout_ms: {
    kind: wholeNumber({ min: 100, max: 600_000 }),
    standard: 15_000,
    example: "15000",
    explains: "How long a client may take to send the headers of a request.",
  },
  request_timeout_ms: {
    kind: wholeNumber({ min: 100, max: 3_600_000 }),
    standard: 120_000,
    example: "120000",
    explains: "How long a client may take to send a whole request.",
  },
  upload_bytes_max: {
    kind: wholeNumber({ min: 1024, max: 5 * 1024 * megabyte }),
    standard: 100 * megabyte,
    example: String(100 * megabyte),
    explains: "The largest file that may be uploaded.",
  },
  media_confinement: {
    kind: oneOf(["preferred", "required"]),
    standard: "preferred",
    example: "required",
    explains:
      "What follows where nothing on the machine can confine the programs that decode uploads: `preferred` starts with a warning, `required` does not start.",
  },
  account_files_max: {
    kind: wholeNumber({ min: 1, max: 10_000_000 }),
    standard: 10_000,
    example: "10000",
    explains: "How many uploaded files an account may have at a time.",
  },
  account_storage_bytes_max: {
    kind: wholeNumber({ min: 1024, max: 2 ** 50 }),
    standard: 20 * 1024 * megabyte,
    example: String(20 * 1024 * megabyte),
    explains: "How large an account's uploaded files may be together.",
  },
  unpaid_files_max: {
    kind: wholeNumber({ min: 0, max: 10_000_000 }),
    standard: 20,
    example: "20",
    explains: "How many uploaded files an account without credit, quota or plan may have at a time.",
  },
  unpaid_storage_bytes_max: {
    kind: wholeNumber({ min: 0, max: 2 ** 50 }),
    standard: 20 * megabyte,
    example: String(20 * megabyte),
    explains: "How large the uploaded files of an account without credit, quota or plan may be together.",
  },
  account_text_bytes_max: {
    kind: wholeNumber({ min: 1024, max: 2 ** 50 }),
    standard: 256 * megabyte,
    example: String(256 * megabyte),
    explains: "How large an account's stored responses and conversations may be together.",
  },
  unpaid_text_bytes_max: {
    kind: wholeNumber({ min: 0, max: 2 ** 50 }),
    standard: 8 * megabyte,
    example: String(8 * megabyte),
    explains: "The same for an account that has never paid and has no plan.",
  },
  response_days: {
    kind: wholeNumber({ min: 0, max: 3650 }),
    standard: 30,
    example: "30",
    explains:
      "How long responses (`POST /v1/responses`) are kept that were not sent with `store: false`, and conversations after their last use. With 0 none is kept.",
  },
  request_log_days: {
    kind: wholeNumber({ min: 0, max: 3650 }),
    standard: 30,
    example: "30",
    explains:
      "How long the request log (`GET /v1/requests`) is kept: every call of an account, without its content. Whole months are dropped, so that the database may have up to a month more than can be read. With 0 no call is logged.",
  },
  task_days: {
    kind: wholeNumber({ min: 0, max: 3650 }),
    standard: 0,
    example: "365",
    explains:
      "For how many days tasks are kept after they were made. Then they go, whole months at a time, so that a task may stay up to a month longer; charges and statements keep everything. With 0 tasks are kept for ever.",
  },
  prompt_days: {
    kind: wholeNumber({ min: 0, max: 3650 }),
    standard: 0,
    example: "90",
    explains:
      "For how many days it is kept what a task was asked for: prompt, text, script and input files' names. Then it is erased, and the task stays. With 0 it is kept as long as the task.",
  },
  content_log_days: {
    kind: wholeNumber({ min: 0, max: 90 }),
    standard: 7,
    example: "7",
    explains:
      "How long the content log is kept, which the owner of a key can switch on for it: the bodies of its requests and of their answers, without keys and passwords, encrypted. Never longer than request_log_days. Whole days are dropped. With 0 no content is kept, and no key can have it switched on.",
  },
  file_days: {
    kind: wholeNumber({ min: 1, max: 3650 }),
    standard: 30,
    example: "30",
    explains: "How long uploads and the outputs of tasks are kept.",
  },
  wal_archive: {
    kind: text("the path of a folder, or s3://bucket/prefix"),
    standard: undefined,
    otherwise: "nothing is archived",
    example: "s3://backups/sluice",
    explains:
      "Where the embedded database's write-ahead log and the files are copied to all the time, so that any moment can be restored (docs/operating/backing-up.md). An external database has tools of its own for it.",
  },
  s3_bucket: {
    kind: text("the name of a bucket"),
    standard: undefined,
    otherwise: "files are kept in data_dir",
    example: "sluice-files",
    explains: "A bucket of Amazon S3, or of another server that speaks like it, to keep files in.",
  },
  s3_endpoint: {
    kind: webAddress(),
    standard: undefined,
    otherwise: "Amazon's, in s3_region",
    example: "https://s3.example.com",
    explains: "The address of a server other than Amazon's.",
  },
  s3_region: {
    kind: text("the name of a region, such as eu-central-1"),
    standard: "us-east-1",
    example: "eu-central-1",
    explains: "The region of the bucket.",
  },
  s3_access_key_id: {
    kind: text("the id of an access key"),
    standard: undefined,
    otherwise: "what the machine knows, such as its role",
    example: "AKIAEXAMPLE",
    explains: "Who reads and writes the bucket.",
  },
  s3_secret_access_key: {
    kind: text("the secret of the access key"),
    standard: undefined,
    otherwise: "what the machine knows, such as its role",
    example: "the-secret-of-the-access-key",
    explains: "The secret that belongs to s3_access_key_id.",
  },
  s3_path_style: {
    kind: oneOf(["on", "off"]),
    standard: "off",
    example: "on",
    explains:
      "Whether the bucket is a part of the path and not of the host name, as many servers other than Amazon's want.",
  },
  drained_calls_max: {
    kind: wholeNumber({ min: 0, max: 10_000 }),
    standard: 20,
    example: "20",
    explains:
      "How many calls of one account this gateway (its processes in equal shares) reads to their end at a time after their caller hung up, because only the upstream can tell what they cost. Beyond that, what was on hold for the call is charged and the upstream is stopped.",
  },
  shutdown_delay_ms: {
    kind: wholeNumber({ min: 0, max: 600_000 }),
    standard: 0,
    example: "5000",
    explains:
      "How long the gateway serves on after SIGTERM, while `/readyz` says 503, so that load balancers stop sending before it stops taking. Ctrl-C does not wait for it.",
  },
  shutdown_timeout_ms: {
    kind: wholeNumber({ min: 0, max: 3_600_000 }),
    standard: 30_000,
    example: "30000",
    explains: "How long running requests may take to finish when the gateway is told to stop.",
  },
} as const satisfies Record<string, SettingEntry<unknown>>;

export type SettingName = keyof typeof settingsTable;

export const settingNames = Object.keys(settingsTable) as SettingName[];

/** The entry in its general shape: optional fields can be asked for. */
export function getSettingEntry(name: SettingName): SettingEntry<unknown> {
  return settingsTable[name];
}

export function getEnvironmentName(name: SettingName): string {
  return `SLUICE_${name.toUpperCase()}`;
}
