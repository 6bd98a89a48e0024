import type { Settings } from "../platform/config/load-settings.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { readSecret, readWebhookKey } from "./read-webhook-key.ts";

type AlarmSettings = {
  mails: readonly string[];
  webhook: { url: string; secret: string } | null;
  slack: { url: string } | null;
};

/** Throws with the fix if an alarm setting is invalid. */
export function readAlarmSettings(settings: Settings): AlarmSettings {
  const { alarm_mails: mails, alarm_webhook_url: url, alarm_webhook_secret: secret, alarm_slack_url: slack } = settings;
  if ((url === undefined) !== (secret === undefined)) {
    throw new OperatorError(
      "Only one of alarm_webhook_url and alarm_webhook_secret is set.",
      "Set both or neither. Make a secret: echo whsec_$(openssl rand -base64 32)",
    );
  }
  return {
    mails,
    webhook:
      url === undefined || secret === undefined
        ? null
        : { url: readAddress("alarm_webhook_url", url), secret: readWebhookKey("alarm_webhook_secret", secret) },
    slack: slack === undefined ? null : { url: readAddress("alarm_slack_url", slack) },
  };
}

function readAddress(setting: string, text: string): string {
  const url = URL.parse(readSecret(setting, text));
  if (url !== null && ["http:", "https:"].includes(url.protocol) && url.username === "" && url.hash === "")
    return url.href;
  throw new OperatorError(`${setting} is not a web address.`, "Write an http or https address without a user.");
}
