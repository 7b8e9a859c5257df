// Import this file before the package ws. The package then does not look for its two native parts, which are not
// installed and which the permissions of the server forbid.
import process from "node:process";

process.env["WS_NO_BUFFER_UTIL"] = "1";
process.env["WS_NO_UTF_8_VALIDATE"] = "1";
