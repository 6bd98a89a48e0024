// The image's HEALTHCHECK: exits 0 while /healthz answers 200. The image has no curl.
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

const speaksTls = (process.env.SLUICE_TLS_CERT_FILE ?? "") !== "";
const request = speaksTls ? requestHttps : requestHttp;
const port = process.env.SLUICE_PORT || "4242";
// A loopback connection: the certificate is for another name than localhost.
const options = { host: "127.0.0.1", port, path: "/healthz", timeout: 4000, rejectUnauthorized: false };

request(options, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on("timeout", () => process.exit(1))
  .on("error", () => process.exit(1))
  .end();
