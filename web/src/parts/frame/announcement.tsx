import { useState } from "react";
import { Icon } from "../../design/icon.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { brand } from "./page-brand.ts";

const dismissedKey = "sluice-announcement-dismissed";

const looks = {
  info: "border-line bg-accent-soft text-ink",
  warning: "border-warning bg-warning-soft text-warning",
  critical: "border-danger bg-danger-soft text-danger",
} as const;

/** What the operator tells everybody, until they dismiss it; another text is another announcement. */
export function Announcement() {
  const { announcement } = brand;
  const [dismissed, setDismissed] = useState(() => localStorage.getItem(dismissedKey));
  if (announcement === null || announcement.text === dismissed) return null;
  const { text, level, url } = announcement;
  const dismiss = () => {
    localStorage.setItem(dismissedKey, text);
    setDismissed(text);
  };
  return (
    <section
      aria-label="Announcement"
      className={joinClasses("flex items-start gap-3 border-b px-4 py-2 text-sm sm:px-8", looks[level])}
    >
      <p className="min-w-0 flex-1 py-1">
        {url === null ? (
          text
        ) : (
          <a href={url} className="underline underline-offset-4">
            {text}
          </a>
        )}
      </p>
      <button
        type="button"
        aria-label="Dismiss the announcement"
        onClick={dismiss}
        className="flex size-8 shrink-0 items-center justify-center rounded-md hover:bg-surface"
      >
        <Icon name="close" />
      </button>
    </section>
  );
}
