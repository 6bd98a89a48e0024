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
  mailAddresses,
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
  wholeNumbers,
} from "./setting-kinds.ts";

/**
 * Every setting. The loader, the example file and the docs page all derive from this table. The environment variable of
 * `site_url` is `SLUICE_SITE_URL`.
 */
export type SettingEntry<T> = {
  kind: SettingKind<T>;
  /** `undefined` if the value derives from other settings or is optional. */
  default: T | undefined;
  /** The default in words, where `default` is `undefined`. */
  defaultText?: string;
  example: string;
  /** A second environment variable, shared with other tools. */
  alias?: string;
  description: string;
};

const megabyte = 1024 * 1024;

export const settingsTable = {
  site_url: {
    kind: webAddress(),
    default: undefined,
    defaultText: "http://localhost:<port>",
    example: "https://ai.example.com",
    description: "The public URL of the web site.",
  },
  base_url: {
    kind: webAddress(),
    default: undefined,
    defaultText: "<site_url>/v1",
    example: "https://ai.example.com/v1",
    description: "The base URL of the API that clients use.",
  },
  host: {
    kind: text("a host name or address to listen on, such as 0.0.0.0"),
    default: "localhost",
    example: "0.0.0.0",
    description:
      "The address to listen on. `localhost` accepts connections from this machine only. `0.0.0.0` accepts them from everywhere; site_url must then not be a localhost address.",
  },
  port: {
    kind: wholeNumber({ min: 1, max: 65_535 }),
    default: 4242,
    example: "4242",
    description: "The port to listen on.",
  },
  tls_cert_file: {
    kind: file("the path of a PEM file with the certificate chain, the server's certificate first"),
    default: undefined,
    defaultText: "plain HTTP; a proxy terminates TLS",
    example: "/etc/sluice/tls.crt",
    description:
      "The certificate for HTTPS (TLS 1.2 and later). site_url must then begin with https. The gateway loads a new certificate within two seconds, without a restart.",
  },
  tls_key_file: {
    kind: file("the path of a PEM file without a passphrase"),
    default: undefined,
    defaultText: "plain HTTP; a proxy terminates TLS",
    example: "/etc/sluice/tls.key",
    description: "The private key of tls_cert_file.",
  },
  metrics_port: {
    kind: wholeNumber({ min: 1, max: 65_535 }),
    default: undefined,
    defaultText: "metrics are not served",
    example: "9464",
    description:
      "The port of `/metrics` for Prometheus (docs/operating/observing.md). It has no authentication: allow only your monitoring to connect.",
  },
  metrics_host: {
    kind: text("a host name or address to listen on, such as 127.0.0.1"),
    default: "127.0.0.1",
    example: "10.0.0.5",
    description: "The address to serve metrics on. Never use a public one.",
  },
  data_dir: {
    kind: folder(),
    default: ".sluice",
    example: "/var/lib/sluice",
    description: "The folder for the embedded database, the secret key and stored files. It must survive restarts.",
  },
  packages_dir: {
    kind: folder(),
    default: undefined,
    defaultText: "packages inside data_dir",
    example: "/opt/sluice-packages",
    description:
      "The folder of the packages that `upstream install` installs for providers of the kind ai-sdk. Set it if your image contains packages.",
  },
  database_url: {
    kind: databaseAddress(),
    default: undefined,
    defaultText: "an embedded PostgreSQL in data_dir",
    example: "postgres://sluice:secret@db.example.com:5432/sluice",
    alias: "DATABASE_URL",
    description:
      "An external PostgreSQL (15 or later) instead of the embedded one. List a primary and its standbys with commas: the gateway uses the host that accepts writes (docs/operating/running.md, High availability).",
  },
  database_connections: {
    kind: wholeNumber({ min: 4, max: 1000 }),
    default: 12,
    example: "12",
    description:
      "The maximum number of database connections of each process: one for the change feed, one for the ledger, the rest for everything else.",
  },
  database_start_timeout_ms: {
    kind: wholeNumber({ min: 0, max: 3_600_000 }),
    default: 60_000,
    example: "60000",
    description: "How long the gateway waits at startup for an external database to become reachable.",
  },
  sandbox: {
    kind: oneOf(["on", "off"]),
    default: undefined,
    defaultText: "on if site_url is a localhost address, else off",
    example: "off",
    description: "Conveniences for local development, such as a demo account. Not allowed if site_url is public.",
  },
  redis_url: {
    kind: redisAddress(),
    default: undefined,
    defaultText: "each gateway counts its own requests, across its processes",
    example: "redis://cache.example.com:6379",
    alias: "REDIS_URL",
    description: "A Redis or Valkey that shares rate limits between several gateways.",
  },
  unshared_nodes: {
    kind: oneOf(["refuse", "allow"]),
    default: "refuse",
    example: "allow",
    description:
      "What to do at startup if another gateway uses the same external database without sharing Redis or file storage. `refuse` exits with the settings to change; `allow` logs a warning and starts.",
  },
  currency: {
    kind: currencyCode(),
    default: "USD",
    example: "EUR",
    description: "The currency of all prices and balances. Choose it before the first charge.",
  },
  secret_key: {
    kind: text("at least 32 random characters"),
    default: undefined,
    defaultText: "generated on the first start and stored in data_dir",
    example: "a-long-string-of-random-characters",
    description:
      "The key that signs file links and encrypts secrets in the database. Use the same on every node. If you lose it, you lose stored vendor keys and all webhook secrets.",
  },
  sign_up: {
    kind: oneOf(["open", "invite", "closed"]),
    default: undefined,
    defaultText: "open if site_url is a localhost address, else closed",
    example: "invite",
    description:
      "Who can create an account on the site. `open`: everyone. `invite`: people you invite with `user invite`. `closed`: only you, on the command line.",
  },
  welcome_credit: {
    kind: amount(),
    default: undefined,
    defaultText: "5 if the sandbox is on, else 0",
    example: "2.50",
    description:
      "The credit of a new account after its owner signs up on the site and verifies an e-mail address. 0 grants none. Accounts that you create on the command line do not get it.",
  },
  welcome_credit_days: {
    kind: wholeNumber({ min: 1, max: 3650 }),
    default: 30,
    example: "30",
    description: "The number of days until the welcome credit expires.",
  },
  welcome_credits_daily_max: {
    kind: wholeNumber({ min: 0, max: 1_000_000 }),
    default: 100,
    example: "100",
    description:
      "The maximum number of welcome credits in 24 hours, of which at most ten go to one network. It limits abuse by people with many mailboxes.",
  },
  sign_ups_per_network_daily_max: {
    kind: wholeNumber({ min: 0, max: 1_000_000 }),
    default: 20,
    example: "5",
    description:
      "How many accounts may be opened on the site from one network (an IPv4 address or an IPv6 /64) in 24 hours. Addresses that are not public, such as a proxy's, are not limited. 0: no limit (docs/operating/abuse.md).",
  },
  sign_ups_per_domain_daily_max: {
    kind: wholeNumber({ min: 0, max: 1_000_000 }),
    default: 100,
    example: "20",
    description:
      "How many accounts may be opened on the site with one mail domain in 24 hours. Domains of large mail services, such as gmail.com, are not limited. 0: no limit.",
  },
  new_account_daily_spend_max: {
    kind: amount(),
    default: "0",
    example: "20.00",
    description:
      "How much an account that signed up on the site may spend a day in its first new_account_days days. Compared every minute. 0: no maximum (docs/operating/abuse.md).",
  },
  new_account_days: {
    kind: wholeNumber({ min: 1, max: 365 }),
    default: 7,
    example: "14",
    description: "For how many days new_account_daily_spend_max applies to an account.",
  },
  support_contact: {
    kind: contact(),
    default: undefined,
    defaultText: 'texts refer to "the operator"',
    example: "help@example.com",
    description: "The contact for credit and help, linked on every page and in e-mails.",
  },
  smtp_url: {
    kind: mailServerAddress(),
    default: undefined,
    defaultText:
      "mails are printed to the terminal and, if site_url is a localhost address, shown on /outbox (the link is printed at startup)",
    example: "smtp://sluice:secret@mail.example.com:587",
    description: "The SMTP server for the site's e-mails.",
  },
  mail_from: {
    kind: text("an address such as Sluice <no-reply@example.com>"),
    default: undefined,
    defaultText: "<brand_name> <no-reply@host of site_url>",
    example: "Sluice <no-reply@example.com>",
    description: "The sender of the site's e-mails.",
  },
  alarm_mails: {
    kind: mailAddresses(),
    default: [],
    example: "[ops@example.com]",
    description: "Who gets alarms by mail (docs/operating/alarms.md). Without addresses, every operator.",
  },
  alarm_webhook_url: {
    kind: text("an http or https address"),
    default: undefined,
    defaultText: "alarms are not sent to a webhook",
    example: "https://alerts.example.com/sluice",
    description:
      "Where alarms are sent as signed events. Private addresses are allowed. Set it together with alarm_webhook_secret.",
  },
  alarm_webhook_secret: {
    kind: text("a signing secret of the form whsec_<base64> or its variable"),
    default: undefined,
    defaultText: "alarms are not sent to a webhook",
    example: "'${ALARM_WEBHOOK_SECRET}'",
    description:
      "The secret that signs alarms (Standard Webhooks). A value of the form ${NAME} is read from the environment.",
  },
  alarm_slack_url: {
    kind: text("the address of an incoming webhook or its variable"),
    default: undefined,
    defaultText: "alarms are not sent to a chat",
    example: "'${ALARM_SLACK_URL}'",
    description:
      "An incoming webhook of Slack, Mattermost, Rocket.Chat or Discord (`/slack`). A value of the form ${NAME} is read from the environment.",
  },
  brand_name: {
    kind: line(40),
    default: "Sluice",
    example: "Example AI",
    description: "The name of the service on pages, in e-mails and in authenticator apps (docs/operating/branding.md).",
  },
  brand_logo_file: {
    kind: file("the path of an image: .svg, .png or .jpg, at most 256 kB"),
    default: undefined,
    defaultText: "the Sluice logo",
    example: "/etc/sluice/logo.svg",
    description: "A square image: the logo beside the name and the favicon.",
  },
  brand_accent: {
    kind: colour(),
    default: undefined,
    defaultText: "the Sluice accent",
    example: "'#6d28d9'",
    description:
      "The colour of links and buttons. If its contrast is too low for text, the gateway rejects it and suggests the nearest readable one.",
  },
  brand_accent_dark: {
    kind: colour(),
    default: undefined,
    defaultText: "brand_accent, lightened until readable",
    example: "'#b794f6'",
    description: "The accent in the dark theme.",
  },
  terms_url: {
    kind: linkTarget(),
    default: undefined,
    defaultText: "no link",
    example: "https://example.com/terms",
    description: "The terms of service, which users accept at sign-up.",
  },
  privacy_url: {
    kind: linkTarget(),
    default: undefined,
    defaultText: "no link",
    example: "https://example.com/privacy",
    description: "The privacy policy, linked on every page and at sign-up.",
  },
  status_url: {
    kind: linkTarget(),
    default: undefined,
    defaultText: "<site_url>/status, unless status_page is off",
    example: "https://status.example.com/",
    description: "The status page, linked on every page.",
  },
  status_page: {
    kind: oneOf(["on", "off"]),
    default: "on",
    example: "off",
    description:
      "The public page `/status` with the share of answered calls by model and endpoint, and your incidents (docs/operating/status-page.md). `off`: it does not exist.",
  },
  announcement: {
    kind: line(300),
    default: undefined,
    defaultText: "nothing",
    example: "Maintenance on Sunday from 02:00 to 03:00 UTC.",
    description:
      "A banner at the top of every page until the user dismisses it. A new text is shown to everyone again.",
  },
  announcement_level: {
    kind: oneOf(["info", "warning", "critical"]),
    default: "info",
    example: "warning",
    description: "The severity of the announcement.",
  },
  announcement_url: {
    kind: linkTarget(),
    default: undefined,
    defaultText: "no link",
    example: "https://status.example.com/",
    description: "The link of the announcement.",
  },
  oidc: {
    kind: signInProviders(),
    default: [],
    example:
      "[{id: example, name: Example, issuer: 'https://accounts.example.com', client_id: sluice, client_secret: '${EXAMPLE_SECRET}'}]",
    description:
      "OpenID Connect providers that users can sign in with. A `client_secret` of the form ${NAME} is read from the environment.",
  },
  stripe_secret_key: {
    kind: text("a Stripe secret key or its variable, such as ${STRIPE_SECRET_KEY}"),
    default: undefined,
    defaultText: "card payments are disabled",
    example: "'${STRIPE_SECRET_KEY}'",
    description: "The Stripe secret key for card payments. A value of the form ${NAME} is read from the environment.",
  },
  stripe_webhook_secret: {
    kind: text("the signing secret of a Stripe webhook or its variable"),
    default: undefined,
    defaultText: "card payments are disabled",
    example: "'${STRIPE_WEBHOOK_SECRET}'",
    description:
      "The signing secret of the Stripe webhook `<site_url>/payments/stripe`. Set it together with stripe_secret_key.",
  },
  payment_webhook_secret: {
    kind: text("a signing secret of the form whsec_<base64> or its variable"),
    default: undefined,
    defaultText: "events of other providers are rejected",
    example: "'${PAYMENT_WEBHOOK_SECRET}'",
    description:
      "The signing secret of payment events of another provider, sent to `<site_url>/payments/events` (docs/operating/payments.md).",
  },
  payment_amount_min: {
    kind: wholeNumber({ min: 1, max: 10_000_000 }),
    default: 5,
    example: "5",
    description: "The minimum card payment, in the currency.",
  },
  payment_amount_max: {
    kind: wholeNumber({ min: 1, max: 10_000_000 }),
    default: 1000,
    example: "1000",
    description: "The maximum card payment, in the currency.",
  },
  payment_amounts: {
    kind: wholeNumbers({ min: 1, max: 10_000_000, countMax: 6 }),
    default: [10, 25, 50, 100],
    example: "[10, 25, 50, 100]",
    description:
      "Amounts that the billing page offers as buttons, in the currency. It leaves out those outside payment_amount_min and payment_amount_max.",
  },
  auto_top_ups_daily_max: {
    kind: wholeNumber({ min: 0, max: 100 }),
    default: 5,
    example: "5",
    description:
      "How often automatic top-up may charge an account's saved card in 24 hours, declined charges included. 0 disables saved cards and automatic top-up.",
  },
  disabled_endpoints: {
    kind: someOf(previewEndpoints),
    default: [],
    example: "[listPrices]",
    description: "Preview endpoints to disable. They return 501.",
  },
  idempotency_hours: {
    kind: wholeNumber({ min: 1, max: 720 }),
    default: 24,
    example: "24",
    description:
      "How long an Idempotency-Key is stored. A repeated request with the same key returns the first response.",
  },
  stream_heartbeat_ms: {
    kind: wholeNumber({ min: 10, max: 600_000 }),
    default: 15_000,
    example: "15000",
    description: "The interval of keep-alive comments on silent streams, so that proxies do not close them.",
  },
  event_streams_max: {
    kind: wholeNumber({ min: 1, max: 100_000 }),
    default: 100,
    example: "100",
    description:
      "The maximum number of open event streams of an API key: tasks, webhook sessions and background responses. The next one gets a 429.",
  },
  processes: {
    kind: wholeNumber({ min: 1, max: 256 }),
    default: undefined,
    defaultText: "one fewer than the machine has cores, two fewer with the embedded database, and at least 1",
    example: "4",
    description:
      "The number of processes on one port (docs/operating/scaling.md). With more than one, a supervisor starts, restarts and rolls them, and counts rate limits for all of them.",
  },
  roles: {
    kind: oneOrMoreOf(["http", "worker"]),
    default: ["http", "worker"],
    example: "[http]",
    description:
      "What this gateway runs. `http` serves requests; `worker` runs tasks and delivers webhooks. Without `http` it serves only `/healthz` and `/readyz`.",
  },
  worker_steps_max: {
    kind: wholeNumber({ min: 1, max: 10_000 }),
    default: 256,
    example: "256",
    description: "The maximum number of tasks that each process works on at a time.",
  },
  trusted_proxies: {
    kind: networks(),
    default: [],
    example: "[10.0.0.0/8]",
    description: "The proxies whose X-Forwarded-For header is trusted.",
  },
  log_level: {
    kind: oneOf(["debug", "info", "warn", "error"]),
    default: "info",
    example: "info",
    description: "The lowest level to log. `warn` omits the line of each successful request.",
  },
  log_format: {
    kind: oneOf(["auto", "json", "pretty"]),
    default: "auto",
    example: "json",
    description: "The log format. `auto` is pretty on a terminal, else JSON.",
  },
  otlp_endpoint: {
    kind: webAddress(),
    default: undefined,
    defaultText: "nothing is exported",
    example: "http://collector.example.com:4318",
    alias: "OTEL_EXPORTER_OTLP_ENDPOINT",
    description:
      "The base URL of an OpenTelemetry collector (OTLP over HTTP), without `/v1/traces` and `/v1/metrics`. The gateway exports traces (docs/operating/tracing.md) and metrics (docs/operating/observing.md) to it.",
  },
  otlp_headers: {
    kind: headerList(),
    default: undefined,
    defaultText: "none",
    example: "'authorization=${COLLECTOR_AUTHORIZATION}'",
    alias: "OTEL_EXPORTER_OTLP_HEADERS",
    description:
      "Headers for the collector, as comma-separated `name=value`. Values may be URL-encoded; a value of the form ${NAME} is read from the environment.",
  },
  otel_service_name: {
    kind: text("a name such as sluice"),
    default: "sluice",
    example: "sluice-eu",
    alias: "OTEL_SERVICE_NAME",
    description: "The service name in exported traces and metrics.",
  },
  otlp_metrics_interval_ms: {
    kind: wholeNumber({ min: 0, max: 3_600_000 }),
    default: 60_000,
    example: "15000",
    alias: "OTEL_METRIC_EXPORT_INTERVAL",
    description:
      "The interval at which all metrics are exported to the collector. 0 disables it, for a collector that accepts only traces or scrapes `/metrics`.",
  },
  traces_sampler: {
    kind: oneOf(samplerNames),
    default: "parentbased_always_on",
    example: "parentbased_traceidratio",
    alias: "OTEL_TRACES_SAMPLER",
    description:
      "Which requests are traced. With `parentbased_…`, a request with a sampled `traceparent` joins its caller's trace. Others start a new trace with a link to the caller's.",
  },
  traces_sampler_arg: {
    kind: share(),
    default: 1,
    example: "0.05",
    alias: "OTEL_TRACES_SAMPLER_ARG",
    description: "The share of requests that a sampler with `traceidratio` traces, from 0 to 1.",
  },
  traces_callers_per_second_max: {
    kind: wholeNumber({ min: 0, max: 1_000_000 }),
    default: 10,
    example: "10",
    description:
      "How many requests per second each process traces because the caller's `traceparent` is sampled. Beyond that they are sampled like all others.",
  },
  traces_delay_ms: {
    kind: wholeNumber({ min: 10, max: 600_000 }),
    default: 2000,
    example: "2000",
    alias: "OTEL_BSP_SCHEDULE_DELAY",
    description: "The interval at which spans are exported in batches.",
  },
  json_body_bytes_max: {
    kind: wholeNumber({ min: 1024, max: 256 * megabyte }),
    default: 20 * megabyte,
    example: String(20 * megabyte),
    description: "The maximum size of a JSON body.",
  },
  json_structure_max: {
    kind: wholeNumber({ min: 1000, max: 10_000_000 }),
    default: 80_000,
    example: "80000",
    description:
      "The maximum number of `{`, `[`, `:` and `,` outside strings in a JSON body. Parsing blocks the process for up to a millisecond per thousand.",
  },
  header_bytes_max: {
    kind: wholeNumber({ min: 4096, max: megabyte }),
    default: 16 * 1024,
    example: String(16 * 1024),
    description: "The maximum total size of a request's URL and headers.",
  },
  header_timeout_ms: {
    kind: wholeNumber({ min: 100, max: 600_000 }),
    default: 15_000,
    example: "15000",
    description: "How long a client may take to send the headers of a request.",
  },
  request_timeout_ms: {
    kind: wholeNumber({ min: 100, max: 3_600_000 }),
    default: 120_000,
    example: "120000",
    description: "How long a client may take to send a whole request.",
  },
  upload_bytes_max: {
    kind: wholeNumber({ min: 1024, max: 5 * 1024 * megabyte }),
    default: 100 * megabyte,
    example: String(100 * megabyte),
    description: "The maximum size of an uploaded file.",
  },
  media_confinement: {
    kind: oneOf(["preferred", "required"]),
    default: "preferred",
    example: "required",
    description:
      "What to do at startup if the machine has no means to confine the programs that decode uploads. `preferred` logs a warning; `required` exits.",
  },
  account_files_max: {
    kind: wholeNumber({ min: 1, max: 10_000_000 }),
    default: 10_000,
    example: "10000",
    description: "The maximum number of uploaded files of an account.",
  },
  account_storage_bytes_max: {
    kind: wholeNumber({ min: 1024, max: 2 ** 50 }),
    default: 20 * 1024 * megabyte,
    example: String(20 * 1024 * megabyte),
    description: "The maximum total size of an account's uploaded files.",
  },
  unpaid_files_max: {
    kind: wholeNumber({ min: 0, max: 10_000_000 }),
    default: 20,
    example: "20",
    description: "The maximum number of uploaded files of an account without credit, quota or plan.",
  },
  unpaid_storage_bytes_max: {
    kind: wholeNumber({ min: 0, max: 2 ** 50 }),
    default: 20 * megabyte,
    example: String(20 * megabyte),
    description: "The maximum total size of the uploaded files of an account without credit, quota or plan.",
  },
  account_text_bytes_max: {
    kind: wholeNumber({ min: 1024, max: 2 ** 50 }),
    default: 256 * megabyte,
    example: String(256 * megabyte),
    description: "The maximum total size of an account's stored responses and conversations.",
  },
  unpaid_text_bytes_max: {
    kind: wholeNumber({ min: 0, max: 2 ** 50 }),
    default: 8 * megabyte,
    example: String(8 * megabyte),
    description:
      "The maximum total size of the stored responses and conversations of an account that has never paid and has no plan.",
  },
  response_days: {
    kind: wholeNumber({ min: 0, max: 3650 }),
    default: 30,
    example: "30",
    description:
      "How many days responses (`POST /v1/responses`, unless `store: false`) are stored, and conversations after their last use. 0 stores none.",
  },
  request_log_days: {
    kind: wholeNumber({ min: 0, max: 3650 }),
    default: 30,
    example: "30",
    description:
      "How many days the request log (`GET /v1/requests`) is stored: every call of an account, without content. Monthly partitions are dropped whole, so rows may stay on disk for up to a month longer. 0 logs nothing.",
  },
  task_days: {
    kind: wholeNumber({ min: 0, max: 3650 }),
    default: 0,
    example: "365",
    description:
      "How many days tasks are stored after creation. Monthly partitions are dropped whole, so a task may stay up to a month longer. Charges and statements are not affected. 0 stores tasks forever.",
  },
  prompt_days: {
    kind: wholeNumber({ min: 0, max: 3650 }),
    default: 0,
    example: "90",
    description:
      "How many days a task's input is stored: prompt, text, script and names of input files. Then it is erased and the task remains. 0 stores it as long as the task.",
  },
  content_log_days: {
    kind: wholeNumber({ min: 0, max: 90 }),
    default: 7,
    example: "7",
    description:
      "How many days the content log is stored, at most request_log_days. It contains encrypted request and response bodies, without keys and passwords, for API keys whose owner has enabled it. Whole days are dropped. 0 disables it for all keys.",
  },
  file_days: {
    kind: wholeNumber({ min: 1, max: 3650 }),
    default: 30,
    example: "30",
    description: "How many days uploads and task outputs are stored.",
  },
  wal_archive: {
    kind: text("the path of a folder, or s3://bucket/prefix"),
    default: undefined,
    defaultText: "nothing is archived",
    example: "s3://backups/sluice",
    description:
      "The folder or bucket for continuous copies of the embedded database's write-ahead log and the files, for point-in-time recovery (docs/operating/backing-up.md). For an external database, use its own tools.",
  },
  s3_bucket: {
    kind: text("the name of a bucket"),
    default: undefined,
    defaultText: "files are stored in data_dir",
    example: "sluice-files",
    description: "A bucket of Amazon S3 or a compatible service for files.",
  },
  s3_endpoint: {
    kind: webAddress(),
    default: undefined,
    defaultText: "Amazon S3 in s3_region",
    example: "https://s3.example.com",
    description: "The URL of an S3-compatible service other than Amazon's.",
  },
  s3_region: {
    kind: text("the name of a region, such as eu-central-1"),
    default: "us-east-1",
    example: "eu-central-1",
    description: "The region of the bucket.",
  },
  s3_access_key_id: {
    kind: text("the id of an access key"),
    default: undefined,
    defaultText: "the machine's own credentials, such as its role",
    example: "AKIAEXAMPLE",
    description: "The access key id for the bucket.",
  },
  s3_secret_access_key: {
    kind: text("the secret of the access key"),
    default: undefined,
    defaultText: "the machine's own credentials, such as its role",
    example: "the-secret-of-the-access-key",
    description: "The secret of s3_access_key_id.",
  },
  s3_path_style: {
    kind: oneOf(["on", "off"]),
    default: "off",
    example: "on",
    description: "Puts the bucket in the URL path instead of the host name. Many S3-compatible services need it.",
  },
  drained_calls_max: {
    kind: wholeNumber({ min: 0, max: 10_000 }),
    default: 20,
    example: "20",
    description:
      "How many calls of one account the gateway reads to their end after the client disconnects, because only the upstream reports their cost. Processes get equal shares. Beyond that, the gateway stops the upstream and charges the whole hold.",
  },
  shutdown_delay_ms: {
    kind: wholeNumber({ min: 0, max: 600_000 }),
    default: 0,
    example: "5000",
    description:
      "How long the gateway keeps serving after SIGTERM while `/readyz` returns 503, so that load balancers stop sending first. Ctrl-C skips this delay.",
  },
  shutdown_timeout_ms: {
    kind: wholeNumber({ min: 0, max: 3_600_000 }),
    default: 30_000,
    example: "30000",
    description: "How long running requests may take to finish after a stop signal.",
  },
} as const satisfies Record<string, SettingEntry<unknown>>;

export type SettingName = keyof typeof settingsTable;

export const settingNames = Object.keys(settingsTable) as SettingName[];

/** The entry with its optional fields. */
export function getSettingEntry(name: SettingName): SettingEntry<unknown> {
  return settingsTable[name];
}

export function getEnvironmentName(name: SettingName): string {
  return `SLUICE_${name.toUpperCase()}`;
}
