import { Notice } from "../../design/notice.tsx";

/** What is wrong with a form as a whole; nothing when nothing is. */
export function FormError({ message }: { message: string | null }) {
  return message === null ? null : <Notice kind="error">{message}</Notice>;
}
