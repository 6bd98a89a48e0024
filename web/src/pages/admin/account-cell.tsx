import { Fragment } from "react";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { AdminLink } from "./admin-place.tsx";

/** The address of an account, as a link to its page. */
export function AccountCell({ id, email }: { id: string; email: string | null }) {
  return (
    <AdminLink to={`accounts/${id}`} className={`text-sm wrap-break-word ${linkClasses}`}>
      {(email ?? id).split(/(?<=[@._-])/).map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are identified by position.
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </AdminLink>
  );
}
