"""A scripted model behind the real SDKs: offline, repeatable, and as strict as a real API.

model = ScriptedModel(lambda messages: Reply("Hello."))
client = model.client(OPENAI_CHAT)  # a real openai.OpenAI, whose requests end here
client.chat.completions.create(model="any", messages=[{"role": "user", "content": "Hi"}])
model.requests                      # the bodies that the SDK sent
"""

from .endpoint import STYLES
from .model import WINDOW, Refused, ScriptedModel
from .reply import Reply

__all__ = ["STYLES", "WINDOW", "Refused", "Reply", "ScriptedModel"]
