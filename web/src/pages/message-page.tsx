import type { ErrorComponentProps } from "@tanstack/react-router";
import { buttonClasses } from "../design/button.tsx";
import { FocusPage } from "../parts/focus-page.tsx";

/** Something to read, and the way back. */
export function MessagePage({ title, message }: { title: string; message: string }) {
  return (
    <FocusPage title={title} intro={message}>
      <a href="/" className={buttonClasses("plain")}>
        Go to the start
      </a>
    </FocusPage>
  );
}

export function NotFoundPage() {
  return <MessagePage title="Page not found" message="There is nothing at this address. It may have been mistyped." />;
}

/** For what should not happen: it says so, and loses nothing. */
export function BrokenPage({ error }: ErrorComponentProps) {
  return (
    <MessagePage title="This page cannot be shown" message={error instanceof Error ? error.message : String(error)} />
  );
}
