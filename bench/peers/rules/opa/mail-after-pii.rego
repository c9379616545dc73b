package agent.call

import rego.v1

default decision := {"decision": "allow"}

decision := {"decision": "deny", "reason": "no e-mails after reading personal data"} if {
	input.tool.name == "send_email"
	some message in input.messages
	message.role == "tool"
	some part in message.content
	part.toolName == "drive_get_files"
	file := json.unmarshal(part.output.value)
	personal(file.text)
	file.owner != input.args.recipient
}

# No detector comes with the engine, so the author of the rule writes one.
personal(text) if regex.match(`[\w.+-]+@[\w-]+\.[\w.]+`, text)

personal(text) if regex.match(`\+[0-9][0-9 ()-]{7,}[0-9]`, text)
