import { createHmac, timingSafeEqual } from "node:crypto";
import type { FileId } from "../../lib/ids.ts";
import type { FileDependencies } from "./file-dependencies.ts";

const linkMs = 24 * 60 * 60 * 1000;

/** Signs a URL under which anyone can read the file for a day. */
export function signLink(
  { linkKey, siteUrl }: FileDependencies,
  fileId: FileId,
  now: Date,
): { url: string; expiresAt: Date } {
  const expires = Math.ceil((now.getTime() + linkMs) / 1000);
  const signature = computeSignature(linkKey, fileId, expires).toString("base64url");
  return {
    url: `${siteUrl}/files/${fileId}?expires=${expires}&signature=${signature}`,
    expiresAt: new Date(expires * 1000),
  };
}

export type FileLink = { fileId: string; expires: unknown; signature: unknown };

/** Parses a URL that looks like one of our links; `null` for any other. */
export function parseLink(url: string, { siteUrl }: { siteUrl: string }): FileLink | null {
  const address = URL.parse(url);
  const own = new URL(siteUrl);
  const ownPath = `${own.pathname.replace(/\/$/, "")}/files/`;
  if (address === null || address.origin !== own.origin || !address.pathname.startsWith(ownPath)) return null;
  return {
    fileId: address.pathname.slice(ownPath.length),
    expires: address.searchParams.get("expires"),
    signature: address.searchParams.get("signature"),
  };
}

export function isLinkValid(linkKey: Buffer, link: FileLink, now: Date): boolean {
  const { fileId, expires, signature } = link;
  if (typeof expires !== "string" || !/^\d{1,12}$/.test(expires) || typeof signature !== "string") return false;
  const wanted = computeSignature(linkKey, fileId, Number(expires));
  const given = Buffer.from(signature, "base64url");
  return given.length === wanted.length && timingSafeEqual(given, wanted) && Number(expires) * 1000 > now.getTime();
}

function computeSignature(linkKey: Buffer, fileId: string, expires: number): Buffer {
  return createHmac("sha256", linkKey).update(`${fileId}\n${expires}`).digest();
}
