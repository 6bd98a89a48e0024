import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Server } from "node:https";
import { createSecureContext } from "node:tls";
import { OperatorError } from "../errors/operator-error.ts";
import type { Logger } from "../observability/logger.ts";

export type CertificateFiles = { certFile: string; keyFile: string };

/** A certificate with its key, both in PEM form. They belong together. */
export type Certificate = { cert: string; key: string; validTo: Date };

/** Both files are small, and are read in a thread of their own. */
const lookEveryMs = 500;

/** What every server of ours speaks at least. */
export const tlsVersionMin = "TLSv1.2";

/** Throws a sentence where there is none that could be used. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  return toCertificate(await readPair(files), files);
}

/**
 * Gives the server whatever new certificate the files have, while it serves; connections that are open go on. Files that
 * change are looked at twice, because a certificate and its key are never replaced in the same moment.
 */
export function followCertificate(
  server: object,
  { files, current, logger }: { files: CertificateFiles; current: Certificate; logger: Logger },
): Disposable {
  let used: Pair = current;
  let last: Pair = current;
  let isLooking = false;

  async function look(): Promise<void> {
    const seen = await readPair(files).catch((error: OperatorError) => ({ cert: "", key: "", error }));
    const isSettled = isSame(seen, last);
    last = seen;
    if (!isSettled || isSame(seen, used)) return;
    // Also what cannot be used: it is told of once, not at every look.
    used = seen;
    try {
      if ("error" in seen) throw seen.error;
      const { cert, key, validTo } = toCertificate(seen, files);
      if (server instanceof Server) server.setSecureContext({ cert, key, minVersion: tlsVersionMin });
      logger.info({ valid_to: validTo.toISOString() }, "a new TLS certificate is in use");
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      const { message, remedy } = error;
      logger.error({ reason: message, remedy }, "the new TLS certificate cannot be used; the one before it stays");
    }
  }

  const timer = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    await look().finally(() => {
      isLooking = false;
    });
  }, lookEveryMs);
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
      `The TLS file ${path} cannot be read.`,
      "Write it there, readable for the user that Sluice runs as.",
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
      `The certificate of ${certFile} and the key of ${keyFile} cannot be used together: ${describe(error)}.`,
      "Write a certificate in PEM form into the first, and its own private key, without a passphrase, into the second.",
      { cause: error },
    );
  }
}

/** OpenSSL's own word for it, without the numbers around it. */
function describe(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  return said.split(":").at(-1)?.trim() ?? said;
}
