import { createHmac, timingSafeEqual } from "node:crypto";
import type { TaskId } from "../../lib/ids.ts";
import type { HookAddress } from "../../providers/generation.ts";

export const hookPath = "/hooks";

/** The addresses at which vendors call back: one per task, impossible to guess. */
export type HookAddresses = {
  /** `null` if vendors cannot reach this gateway. */
  find(taskId: string): HookAddress | null;
  /** The task of an address's last part; `null` for one that we did not make. */
  read(token: string): { taskId: TaskId; secret: string } | null;
};

const macBytes = 18;

export function createHookAddresses({ key, siteUrl }: { key: Buffer; siteUrl: string | undefined }): HookAddresses {
  const isReachable = siteUrl?.startsWith("https:") === true;
  const sign = (purpose: string, taskId: string): string =>
    createHmac("sha256", key).update(`${purpose} ${taskId}`).digest().subarray(0, macBytes).toString("base64url");
  return {
    find(taskId) {
      if (!isReachable) return null;
      return { url: `${siteUrl}${hookPath}/${taskId}.${sign("address", taskId)}`, secret: sign("secret", taskId) };
    },
    read(token) {
      const [taskId = "", mac = ""] = token.split(".");
      const [given, expected] = [Buffer.from(mac), Buffer.from(sign("address", taskId))];
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
      return { taskId: taskId as TaskId, secret: sign("secret", taskId) };
    },
  };
}
