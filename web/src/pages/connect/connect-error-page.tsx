import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { FocusPage } from "../../parts/frame/focus-page.tsx";
import { getPageData } from "../../parts/frame/page-data.ts";

/** An invalid authorization request is explained here, never redirected. */
export function ConnectErrorPage() {
  const data = getPageData();
  const problems = data?.kind === "connect-error" ? data.problems : [];
  return (
    <FocusPage
      title="This link does not work"
      intro="A program on this computer opened this page to connect, but its request is invalid. No key was created."
    >
      {problems.length > 0 && (
        <ul className="flex flex-col gap-3 text-sm">
          {problems.map(({ param, message }) => (
            <li key={`${param}: ${message}`} className="border-l-4 border-danger bg-danger-soft px-4 py-3">
              {param !== null && <code className="mr-2 font-mono font-semibold">{param}</code>}
              <InlineCodeText text={message} />
            </li>
          ))}
        </ul>
      )}
      <p className="text-sm text-ink-soft">
        Start again in the program. If it happens again, report these errors to its developers.
      </p>
    </FocusPage>
  );
}
