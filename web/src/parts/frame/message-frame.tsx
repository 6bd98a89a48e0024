import { createContext, type ReactNode, use } from "react";
import { ConsoleFrame } from "./console-frame.tsx";
import { FocusPage } from "./focus-page.tsx";

/** Whether the console's or the docs' navigation surrounds the page. */
export const InsideFrame = createContext(false);

type MessageFrameProps = { title: string; intro?: ReactNode; children?: ReactNode };

/** Shown instead of a page: within the console or docs layout, or standalone. */
export function MessageFrame({ title, intro, children }: MessageFrameProps) {
  const isInside = use(InsideFrame);
  return isInside ? (
    <ConsoleFrame title={title} intro={intro}>
      {children}
    </ConsoleFrame>
  ) : (
    <FocusPage title={title} intro={intro}>
      {children}
    </FocusPage>
  );
}
