import type { ReactNode } from "react";
import { buttonClasses } from "../design/button.tsx";
import { MessageFrame } from "../parts/frame/message-frame.tsx";

/** A message and a link back. */
export function MessagePage({ title, message }: { title: string; message: ReactNode }) {
  return (
    <MessageFrame title={title} intro={message}>
      <div>
        <a href="/console" className={buttonClasses("plain")}>
          Back to console
        </a>
      </div>
    </MessageFrame>
  );
}

export function NotFoundPage() {
  return (
    <MessagePage title="Page not found" message="There is nothing at this address. Check the address for typos." />
  );
}
