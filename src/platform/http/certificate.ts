import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Server } from "node:https";
import { createSecureContext } from "node:tls";
import { OperatorError } from "../errors/operator-error.ts";
import type { Logger } from "../observability/logger.ts";

export type CertificateFiles = { certFile: string; keyFile: string };

/** A certificate and its key, both PEM. */
export type Certificate = { cert: string; key: string; validTo: Date };

const pollIntervalMs = 500;

export const tlsVersionMin = "TLSv1.2";

export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  return toCertificate(await readPair(files), files);
}

/**
 * Polls the files and replaces the server's certificate without closing connections. A change is applied when two polls
 * in a row read the same, because certificate and key are never replaced at the same moment.
 */
export function followCertificate(
  server: object,
  { files, current, logger }: { files: CertificateFiles; current: Certificate; logger: Logger },
): Disposable {
  let used: Pair = current;
  let last: Pair = current;
  let isPolling = false;

  async function poll(): Promise<void> {
    const seen = await readPair(files).catch((error: OperatorError) => ({ cert: "", key: "", error }));
    const isSettled = isSame(seen, last);
    last = seen;
    if (!isSettled || isSame(seen, used)) return;
    // Also for an invalid pair, so that it is logged once.
    used = seen;
    try {
      if ("error" in seen) throw seen.error;
      const { cert, key, validTo } = toCertificate(seen, files);
      if (server instanceof Server) server.setSecureContext({ cert, key, minVersion: tlsVersionMin });
      logger.info({ valid_to: validTo.toISOString() }, "TLS certificate replaced");
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      const { message, remedy } = error;
      logger.error({ reason: message, remedy }, "TLS certificate rejected, previous one kept");
    }
  }

  const timer = setInterval(async () => {
    if (isPolling) return;
    isPolling = true;
    await poll().finally(() => {
      isPolling = false;
    });
  }, pollIntervalMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

type Pair = { cert: string; key: string };

function isSame(one: Pair, other: Pair): boolean {
  return one.cert === other.cert && one.key === other.key;
}

async function readPair({ certFile, keyFile }: CertificateFiles): Promise<Pair> {
  const [cert, key] = await Promise.all([readPem(certFile), readPem(keyFile)]);
  return { cert, key };
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new OperatorError(
      `Cannot read the TLS file ${path}.`,
      "Create it with read permission for the user that runs Sluice.",
      { cause: error },
    );
  }
}

function toCertificate({ cert, key }: Pair, { certFile, keyFile }: CertificateFiles): Certificate {
  try {
    createSecureContext({ cert, key });
    return { cert, key, validTo: new X509Certificate(cert).validToDate };
  } catch (error) {
    throw new OperatorError(
      `Cannot use the certificate ${certFile} with the key ${keyFile}: ${describe(error)}.`,
      "Use a PEM certificate and its private key without a passphrase.",
      { cause: error },
    );
  }
}

/** The reason in an OpenSSL error, without its numbers. */
function describe(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split(":").at(-1)?.trim() ?? message;
}
