import { LongName } from "../../design/long-name.tsx";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { AdminLink } from "./admin-place.tsx";

/** The address of an account, as a link to its page. */
export function AccountCell({ id, email }: { id: string; email: string | null }) {
  return (
    <AdminLink to={`accounts/${id}`} className={`text-sm wrap-break-word ${linkClasses}`}>
      <LongName>{email ?? id}</LongName>
    </AdminLink>
  );
}
