package agent.call

import rego.v1

default decision := {"decision": "allow"}

decision := {"decision": "deny", "reason": "data leakage risk"} if {
	input.tool.name == "send_slack_message"
	input.args.link_preview == true
	some message in input.messages
	message.role == "tool"
	some part in message.content
	part.toolName in {"gsheets_read", "gdocs_read"}
}
