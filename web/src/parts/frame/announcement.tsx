import { useState } from "react";
import type { BrandAnnouncement } from "../../api/fetch-brand.ts";
import { Icon } from "../../design/icon.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { useBrand } from "./use-brand.ts";

const dismissedKey = "sluice-announcement-dismissed";

const looks = {
  info: "border-line bg-accent-soft text-ink",
  warning: "border-warning bg-warning-soft text-warning",
  critical: "border-danger bg-danger-soft text-danger",
} as const;

export const announcementLevels = ["info", "warning", "critical"] as const;

/** The operator's announcement, until dismissed. A new text shows again. */
export function Announcement() {
  const { announcement } = useBrand();
  const [dismissed, setDismissed] = useState(() => (import.meta.env.SSR ? null : localStorage.getItem(dismissedKey)));
  if (announcement === null || announcement.text === dismissed) return null;
  const dismiss = () => {
    localStorage.setItem(dismissedKey, announcement.text);
    setDismissed(announcement.text);
  };
  return <AnnouncementBar announcement={announcement} onDismiss={dismiss} />;
}

type AnnouncementBarProps = { announcement: BrandAnnouncement; onDismiss(): void };

export function AnnouncementBar({ announcement: { text, level, url }, onDismiss }: AnnouncementBarProps) {
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
        aria-label="Dismiss announcement"
        onClick={onDismiss}
        className="flex size-8 shrink-0 items-center justify-center rounded-md hover:bg-surface"
      >
        <Icon name="close" />
      </button>
    </section>
  );
}
